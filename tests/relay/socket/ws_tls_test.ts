import assert from "node:assert/strict";
import { rawRendezvous } from "../raw_rendezvous.ts";

const TLS = new URL("../../fixtures/tls/", import.meta.url).pathname;
const AUTHORITY = `${TLS}ca.pem`;
const UNVERIFIED = "connection failed UNABLE_TO_VERIFY_LEAF_SIGNATURE";

/** What a program needs of our environment, which may name other authorities. */
const OWN = Object.fromEntries(
  ["HOME", "PATH", "DENO_DIR"].flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }),
);

/** A rendezvous with a certificate for `localhost` and 127.0.0.1 that no public authority vouches for. */
function secureRendezvous(hostname: string) {
  const [cert, key] = ["localhost.pem", "localhost.key"].map((name) => Deno.readTextFileSync(TLS + name));
  const listener = Deno.listenTls({ hostname, port: 0, cert: cert!, key: key! });
  const server = rawRendezvous(async (peer) => {
    await peer.rest();
    peer.close();
  }, listener);
  return { listener, server };
}

/** What a program prints that dials the URL, with these variables besides. */
async function dial(url: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL("../dial_tls.ts", import.meta.url).pathname, url],
    clearEnv: true,
    env: { ...OWN, ...env },
    stderr: "inherit",
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

Deno.test("over TLS a rendezvous is dialled for which an authority vouches that the platform was told of", async () => {
  await using server = secureRendezvous("127.0.0.1").server;
  assert.deepEqual(
    await Promise.all([
      dial(server.url, { DENO_CERT: AUTHORITY }),
      dial(server.url, { NODE_EXTRA_CA_CERTS: AUTHORITY }),
      dial(server.url, { SSL_CERT_FILE: AUTHORITY, DENO_TLS_CA_STORE: "system" }),
    ]),
    ["open", "open", "open"],
  );
});

Deno.test("over TLS no other rendezvous is dialled, even where the environment asks for it", async () => {
  await using server = secureRendezvous("127.0.0.1").server;
  assert.equal(await dial(server.url, { NODE_TLS_REJECT_UNAUTHORIZED: "0" }), UNVERIFIED);
  const { listener, server: elsewhere } = secureRendezvous("127.0.0.2");
  await using _elsewhere = elsewhere;
  const { port } = listener.addr as Deno.NetAddr;
  const told = await dial(`wss://127.0.0.2:${port}`, { DENO_CERT: AUTHORITY });
  assert.equal(told, "connection failed ERR_TLS_CERT_ALTNAME_INVALID");
});
