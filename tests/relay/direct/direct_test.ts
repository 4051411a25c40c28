import assert from "node:assert/strict";
import { CredentialError } from "../../../lib/relay/credential.ts";
import { DialError } from "../../../lib/relay/socket/relay_socket.ts";
import { RegistryError } from "../../../lib/relay/registry/registry_error.ts";
import { DirectLife } from "../direct_life.ts";

const URL_1 = "wss://direct.test/stage?token=1";
const URL_2 = "wss://direct.test/stage?token=2";
const REGISTERED = ["register at 0", "registration success", "registered env-1"];
const CONNECTED = ["connect success", "connected"];

function refused(status: number): DialError {
  return new DialError("upgrade refused", status);
}

Deno.test("a direct executor registers, connects, and connects again after a loss, to the same URL", async () => {
  await using executor = new DirectLife([URL_1], ["socket"]);
  await executor.next(...REGISTERED, `dial ${URL_1} at 0`, ...CONNECTED);
  executor.clock.advance(7000);
  executor.sockets[0]!.end("connection lost");
  await executor.next("lost: connection lost after 7000", "retrying direct connection in 500: connection lost -");
  executor.clock.advance(499);
  assert.deepEqual(executor.happened, []);
  executor.clock.advance(1);
  await executor.next(`dial ${URL_1} at 7500`, ...CONNECTED);
});

Deno.test("the upgrade is signed anew each time, as it is sent", async () => {
  const url = "ws://user:pw@127.0.0.1:8080/a/../b%20c?x=1&y=%2f#fragment";
  await using executor = new DirectLife([url], [refused(503)]);
  await executor.next(...REGISTERED, `dial ${url} at 0`, "connect error");
  executor.clock.advance(500);
  await executor.next("retrying direct connection in 500: upgrade refused 503");
  await executor.next(`dial ${url} at 500`, "connect error");
  const request = {
    method: "GET",
    url: "ws://127.0.0.1:8080/a/../b%20c?x=1&y=%2f",
    headers: {},
    body: new Uint8Array(),
  };
  assert.deepEqual(executor.signed, [request, request]);
});

Deno.test("waiting times grow with each failure to 5 s and half of it, and begin anew with each connection", async () => {
  const failures = [refused(408), refused(429), refused(500), refused(302), new DialError("connection failed")];
  const dials = [...failures, new DialError("upgrade timeout"), "socket" as const, refused(503)];
  await using executor = new DirectLife([URL_1], dials, () => 1 - 2 ** -53);
  await executor.next(...REGISTERED);
  let now = 0;
  const waits = [[750, "upgrade refused 408"], [1500, "upgrade refused 429"], [3000, "upgrade refused 500"]] as const;
  const more = [[6000, "upgrade refused 302"], [7500, "connection failed -"], [7500, "upgrade timeout -"]] as const;
  for (const [ms, why] of [...waits, ...more]) {
    await executor.next(`dial ${URL_1} at ${now}`, "connect error", `retrying direct connection in ${ms}: ${why}`);
    executor.clock.advance(ms);
    now += ms;
  }
  await executor.next(`dial ${URL_1} at ${now}`, ...CONNECTED);
  executor.sockets[0]!.end("closed by the peer");
  await executor.next("lost: closed by the peer after 0", "retrying direct connection in 750: closed by the peer -");
  executor.clock.advance(750);
  await executor.next(`dial ${URL_1} at ${now + 750}`, "connect error");
  await executor.next("retrying direct connection in 1500: upgrade refused 503");
});

Deno.test("after a 409 it registers again at once, then waits, then uses the new URL", async () => {
  await using executor = new DirectLife([URL_1, URL_2], [refused(409), "socket"]);
  await executor.next(...REGISTERED, `dial ${URL_1} at 0`, "connect error");
  await executor.next("retrying direct connection in 500: upgrade refused 409", ...REGISTERED);
  executor.clock.advance(500);
  await executor.next(`dial ${URL_2} at 500`, ...CONNECTED);
});

Deno.test("other 4xx answers to the upgrade are final, and the URL's secrets are not repeated", async () => {
  for (const [status, text] of [[400, "400 Bad Request"], [401, "401 Unauthorized"], [404, "404 Not Found"]] as const) {
    await using executor = new DirectLife(["wss://user:pw@direct.test/stage?token=1"], [refused(status)]);
    await assert.rejects(executor.done, {
      message: `failed to connect to exec-server websocket \`wss://direct.test/stage\`: HTTP error: ${text}`,
    });
  }
});

Deno.test("a URL that no request can be made of is final", async () => {
  await using executor = new DirectLife(["wss://direct.test/a b?token=1"], ["socket"]);
  await assert.rejects(executor.done, {
    message: "failed to connect to exec-server websocket `wss://direct.test/a%20b`: unusable url",
  });
  assert.deepEqual(executor.signed, []);
});

Deno.test("a registration that fails is never repeated, at the start and later", async () => {
  const failure = new RegistryError("request", " (503 Service Unavailable, registration_conflict): busy", {
    retry: "registration_conflict",
  });
  await using first = new DirectLife([failure], ["socket"]);
  await assert.rejects(first.done, failure);
  await first.next("register at 0", "registration error");
  await using later = new DirectLife([URL_1, failure], [refused(409)]);
  await assert.rejects(later.done, failure);
});

Deno.test("credentials that are missing for good are final, those that may come back are waited for", async () => {
  await using executor = new DirectLife([URL_1], ["socket"]);
  executor.signature = new CredentialError("failed to load AWS credentials: timeout", true);
  await executor.next(...REGISTERED, "connect error", "retrying direct connection in 500: credential unavailable -");
  executor.clock.advance(500);
  await executor.next(`dial ${URL_1} at 500`, ...CONNECTED);
  executor.signature = new CredentialError("failed to load AWS credentials: none");
  executor.sockets[0]!.end("connection lost");
  await executor.next(
    "lost: connection lost after 0",
    "retrying direct connection in 500: connection lost -",
  );
  executor.clock.advance(500);
  await assert.rejects(executor.done, {
    name: "RegistryError",
    message: "environment registry authentication error: failed to resolve environment registry authentication: " +
      "request auth build error: failed to load AWS credentials: none",
  });
});

Deno.test("a conversation that ends by itself is not repeated in its words", async () => {
  await using executor = new DirectLife([URL_1], ["socket"]);
  await executor.next(...REGISTERED, `dial ${URL_1} at 0`, ...CONNECTED);
  executor.sockets[0]!.end("something that the peer might have said");
  await executor.next("lost: closed by us after 0", "retrying direct connection in 500: closed by us -");
});

Deno.test("the next attempt waits until nothing is left of the last connection", async () => {
  await using executor = new DirectLife([URL_1], ["socket"]);
  await executor.next(...REGISTERED, `dial ${URL_1} at 0`, ...CONNECTED);
  executor.sockets[0]!.ended.resolve({ reason: "closed by us" });
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(executor.happened, []);
  executor.sockets[0]!.gone.resolve();
  await executor.next("lost: closed by us after 0", "retrying direct connection in 500: closed by us -");
});

Deno.test("the signal ends a direct executor wherever it is, without a failure", async () => {
  const waiting = new DirectLife([URL_1], [refused(503)]);
  await waiting.next(
    ...REGISTERED,
    `dial ${URL_1} at 0`,
    "connect error",
    "retrying direct connection in 500: upgrade refused 503",
  );
  const dialling = new DirectLife([URL_1], ["never"]);
  await dialling.next(...REGISTERED, `dial ${URL_1} at 0`);
  const serving = new DirectLife([URL_1], ["socket"]);
  await serving.next(...REGISTERED, `dial ${URL_1} at 0`, ...CONNECTED);
  for (const executor of [waiting, dialling, serving]) {
    executor.stop.abort(new Error("stopped"));
    await executor.done;
    assert.deepEqual(executor.happened, []);
    assert.equal(executor.clock.pendingTimers, 0);
  }
  assert.deepEqual(await serving.sockets[0]!.ended.promise, { reason: "closed by us" });
});
