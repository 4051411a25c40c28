import assert from "node:assert/strict";
import { type AuthEnvironment, type AuthSettings, createAuthorizer, secretFile } from "../../lib/server/auth.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const encoder = new TextEncoder();

/** Files that exist only here; their contents are text or bytes. */
function environment(files: Record<string, string | Uint8Array> = {}): AuthEnvironment {
  return {
    readFile(path) {
      const content = files[path];
      if (content === undefined) {
        throw new Deno.errors.NotFound(`No such file or directory (os error 2): readfile '${path}'`);
      }
      return new Uint8Array(typeof content === "string" ? encoder.encode(content) : content);
    },
    cwd: () => "/work dir",
    home: "/home/me",
    now: () => 0,
  };
}

const signed: Extract<AuthSettings, { mode: "signed-bearer-token" }> = {
  mode: "signed-bearer-token",
  secretFile: "/secret",
  issuer: null,
  audience: null,
  maxClockSkewSeconds: 30n,
};

Deno.test("createAuthorizer takes the token of the header apart as the reference does", async () => {
  const authorize = await createAuthorizer(
    { mode: "capability-token", token: { file: "/token" } },
    environment({ "/token": " s3cr3t, token \n" }),
  );
  const [missing, malformed, wrong] = [
    "missing websocket bearer token",
    "invalid authorization header",
    "invalid websocket bearer token",
  ];
  const cases: [string | null, string | undefined][] = [
    [null, missing],
    ["Bearer s3cr3t, token", undefined],
    ["bearer s3cr3t, token", undefined],
    ["BEARER   \t s3cr3t, token", undefined],
    ["Bearer S3cr3t, token", wrong],
    ["Bearer s3cr3t", wrong],
    ["Bearer s3cr3t, token x", wrong],
    ['Bearer "s3cr3t, token"', wrong],
    ["Bearer Bearer s3cr3t, token", wrong],
    ["", malformed],
    ["Bearer", malformed],
    ["Bearer \t", malformed],
    ["Bearer\ts3cr3t, token", malformed],
    ["Bearers3cr3t, token", malformed],
    ["s3cr3t, token", malformed],
    ["Basic s3cr3t, token", malformed],
    ["Bearer, s3cr3t, token", malformed],
    ["Bearer \xe9", malformed],
  ];
  for (const [header, expected] of cases) assert.equal(await authorize(header), expected, String(header));
});

Deno.test("createAuthorizer lets only the first of several headers count, which the platform joins", async () => {
  const authorize = await createAuthorizer(
    { mode: "capability-token", token: { file: "/token" } },
    environment({ "/token": "good" }),
  );
  assert.equal(await authorize("Bearer good, Bearer bad"), undefined);
  assert.equal(await authorize("Bearer bad, Bearer good"), "invalid websocket bearer token");
  assert.equal(await authorize("Basic x, Bearer good"), "invalid authorization header");
  assert.equal(await authorize(", Bearer good"), "invalid authorization header");
});

Deno.test("createAuthorizer knows a token by its digest alone, in hex of either case", async () => {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode("s3cr3t-token"))).toHex();
  for (const sha256 of [digest, digest.toUpperCase()]) {
    const authorize = await createAuthorizer({ mode: "capability-token", token: { sha256 } }, environment());
    assert.equal(await authorize("Bearer s3cr3t-token"), undefined);
    assert.equal(await authorize(`Bearer ${sha256}`), "invalid websocket bearer token");
  }
});

Deno.test("createAuthorizer names the file that it cannot use, by its whole path", async () => {
  const files = environment({
    "/home/me/empty": " \n",
    "/work dir/binary": new Uint8Array([0xff, 0xfe]),
    "/short": "\n" + "x".repeat(31) + "\n",
  });
  const token = (file: string) => createAuthorizer({ mode: "capability-token", token: { file } }, files);
  const cases: [Promise<unknown>, string][] = [
    [
      token("a/../b//./nope/"),
      "failed to read websocket auth secret /work dir/b/nope: No such file or directory (os error 2)",
    ],
    [token("/a/../../nope"), "failed to read websocket auth secret /nope: No such file or directory (os error 2)"],
    [token("~/empty"), "websocket auth secret /home/me/empty must not be empty"],
    [token("~me"), "failed to read websocket auth secret /work dir/~me: No such file or directory (os error 2)"],
    [token("binary"), "failed to read websocket auth secret /work dir/binary: stream did not contain valid UTF-8"],
    [
      createAuthorizer({ ...signed, secretFile: "/short", maxClockSkewSeconds: 2n ** 63n }, files),
      "signed websocket bearer secret /short must be at least 32 bytes",
    ],
  ];
  for (const [made, message] of cases) await assert.rejects(made, { message });
});

Deno.test("createAuthorizer says what a real file system says", async () => {
  const real = { ...environment(), readFile: Deno.readFileSync };
  await assert.rejects(
    createAuthorizer({ ...signed, secretFile: Deno.execPath() + "/x" }, real),
    { message: `failed to read websocket auth secret ${Deno.execPath()}/x: Not a directory (os error 20)` },
  );
  await assert.rejects(
    createAuthorizer({ mode: "capability-token", token: { file: "/" } }, real),
    { message: "failed to read websocket auth secret /: Is a directory (os error 21)" },
  );
});

Deno.test("createAuthorizer refuses a clock skew that does not fit", async () => {
  await assert.rejects(
    createAuthorizer({ ...signed, maxClockSkewSeconds: 2n ** 63n }, environment({ "/secret": SECRET })),
    { message: "websocket auth clock skew must fit in a signed 64-bit integer" },
  );
});

Deno.test("createAuthorizer checks signed tokens against the trimmed secret and the time of the request", async () => {
  const part = (json: string) => encoder.encode(json).toBase64({ alphabet: "base64url", omitPadding: true });
  const text = `${part('{"alg":"HS256"}')}.${part('{"exp":1000}')}`;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(SECRET), algorithm, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text)));
  const token = `${text}.${signature.toBase64({ alphabet: "base64url", omitPadding: true })}`;
  let now = 1_030_999;
  const files = { ...environment({ "/secret": ` ${SECRET}\n` }), now: () => now };
  const authorize = await createAuthorizer(signed, files);
  assert.equal(await authorize(`Bearer ${token}`), undefined);
  assert.equal(await authorize(`Bearer ${token}, Bearer x`), undefined);
  now++;
  assert.equal(await authorize(`Bearer ${token}`), "expired websocket jwt");
  assert.equal(await authorize("Bearer x"), "invalid websocket jwt");
});

Deno.test("secretFile is the very file that createAuthorizer reads", () => {
  const token = (file: string): AuthSettings => ({ mode: "capability-token", token: { file } });
  assert.equal(secretFile(token("~/t"), environment()), "/home/me/t");
  assert.equal(secretFile(token("a/../t"), environment()), "/work dir/t");
  assert.equal(secretFile({ ...signed, secretFile: "s" }, environment()), "/work dir/s");
  assert.equal(secretFile({ mode: "capability-token", token: { sha256: "00" } }, environment()), undefined);
});
