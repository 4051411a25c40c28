import assert from "node:assert/strict";

/** Its requests are the first of a process, since the platform looks at the variable once. */
const LISTENS = `
  import { silentLog } from "./lib/log.ts";
  import { listen } from "./lib/server/listener.ts";
  import { rawRequest, rawTarget, upgradeHeaders } from "./tests/support/raw_http.ts";
  const address = { hostname: "127.0.0.1", port: 0 };
  await using listener = listen({
    address,
    authorize: null,
    log: silentLog,
    onConnection: ({ label }) => console.log(label.replace(/:\\d+$/, "")),
  });
  const target = rawTarget(listener.url);
  for (const peer of ["192.0.2.1:5", "no address"]) {
    const headers = upgradeHeaders({ plus: ["x-deno-client-address: " + peer] });
    console.log((await rawRequest(target, "GET / HTTP/1.1", headers)).status);
    console.log(Deno.env.get("DENO_TRUST_PROXY_HEADERS"));
  }
  Deno.exit();
`;

Deno.test("a peer is called by its own address, whatever its headers and a variable tell the platform", async () => {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", LISTENS],
    cwd: new URL("../../", import.meta.url),
    env: { DENO_TRUST_PROXY_HEADERS: "1" },
  }).output();
  const decoder = new TextDecoder();
  const lines = decoder.decode(stdout).trim().split("\n").sort();
  const peer = "exec-server websocket 127.0.0.1";
  // The variable is the user's, and his programs' to inherit.
  assert.deepEqual(lines, ["1", "1", "101", "101", peer, peer], decoder.decode(stderr));
});
