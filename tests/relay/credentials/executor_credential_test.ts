import assert from "node:assert/strict";
import { executorCredential } from "../../../lib/relay/credentials/executor_credential.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { Stdin } from "./stdin_rig.ts";

const NOW_S = 1_800_000_000;
const INVALID = "invalid exec-server executor credential frame";
const EXPIRED = "exec-server executor credential is expired";

/** The members of a good frame, and those that a test wants otherwise; undefined: left out. */
function frame(others: Record<string, unknown> = {}): string {
  const members = { version: 1, environment_id: "env-x", token: "tok-1", expires_at: NOW_S + 3600, ...others };
  return JSON.stringify(members);
}

class Rig {
  readonly stdin = new Stdin();
  readonly clock = new ManualClock();
  readonly stop = new AbortController();
  now = NOW_S * 1000;

  start() {
    const { clock, stop } = this;
    const options = { lines: this.stdin.lines, environmentId: "env-x", clock, signal: stop.signal };
    return executorCredential({ ...options, now: () => this.now });
  }
}

/** A first line of standard input, after which it is closed. */
function first(line: string) {
  const rig = new Rig();
  rig.stdin.write(line);
  rig.stdin.close();
  return rig.start();
}

Deno.test("the credential of the first frame is shown, and error bodies are hidden", async () => {
  const rig = new Rig();
  rig.stdin.write(`${frame()}\n`);
  const { credential } = await rig.start();
  assert.deepEqual(await credential.headers(rig.stop.signal), { authorization: "Bearer tok-1" });
  assert.equal(credential.hidesErrorBodies, true);
  assert.equal(rig.clock.pendingTimers, 0);
});

Deno.test("a later frame replaces the credential, and the end of standard input is the end", async () => {
  const rig = new Rig();
  rig.stdin.write(`${frame()}\r\n`);
  const { credential, ended } = await rig.start();
  rig.stdin.write(`${frame({ token: "tok-2" })}\n`);
  rig.stdin.close();
  await ended;
  assert.deepEqual(await credential.headers(rig.stop.signal), { authorization: "Bearer tok-2" });
});

Deno.test("frames that are not exactly the four members are refused, and not repeated", async () => {
  const bad = [
    frame({ extra: 1 }),
    frame({ expires_at: undefined }),
    frame({ version: 2 }),
    frame({ version: "1" }),
    frame({ token: "" }),
    frame({ token: "a b" }),
    frame({ token: "aä" }),
    frame({ token: 1 }),
    frame({ environment_id: 1 }),
    frame({ expires_at: NOW_S + 99.5 }),
    frame({ expires_at: String(NOW_S + 99) }),
    frame({ expires_at: -5 }),
    frame({ expires_at: "18446744073709551616" }).replace(/"(\d{20})"/, "$1"),
    frame().replace("{", '{"version":1,'),
    "nope",
    "",
    "[]",
    `${frame()} x`,
  ];
  for (const line of bad) {
    await assert.rejects(first(`${line}\n`), { name: "CredentialError", message: INVALID, transient: false }, line);
  }
  await assert.rejects(first(frame()), { message: INVALID }, "no newline");
});

Deno.test("a frame for another environment, or one that has expired, is refused by name", async () => {
  const other = "exec-server executor credential is for a different environment";
  await assert.rejects(first(`${frame({ environment_id: "zzz", expires_at: NOW_S - 10 })}\n`), { message: other });
  await assert.rejects(first(`${frame({ expires_at: NOW_S - 10 })}\n`), { message: EXPIRED });
  await first(`${frame({ expires_at: 18446744073709551615n.toString() }).replace(/"(\d{20})"/, "$1")}\n`);
});

Deno.test("a frame may have 16384 bytes with its newline", async () => {
  const fill = 16_383 - frame({ token: "" }).length;
  await first(`${frame({ token: "a".repeat(fill) })}\n`);
  await assert.rejects(first(`${frame({ token: "a".repeat(fill + 1) })}\n`), {
    message: "exec-server executor credential frame exceeds the size limit",
  });
});

Deno.test("standard input that ends before the first frame is told", async () => {
  await assert.rejects(first(""), { message: "exec-server executor credential pipe closed" });
});

Deno.test("the first frame may take 30 s", async () => {
  const rig = new Rig();
  const started = rig.start();
  rig.clock.advance(29_999);
  rig.stdin.write(`${frame()}\n`);
  await started;

  const late = new Rig();
  const failed = assert.rejects(late.start(), {
    name: "CredentialError",
    message: "timed out waiting for the initial exec-server executor credential",
  });
  late.clock.advance(30_000);
  await failed;
});

Deno.test("waiting for the first frame ends with the signal, and leaves no timer", async () => {
  const rig = new Rig();
  const failed = assert.rejects(rig.start(), { message: "stop" });
  rig.stop.abort(new Error("stop"));
  await failed;
  assert.equal(rig.clock.pendingTimers, 0);
});

Deno.test("a bad later frame ends it, whichever way it is bad", async () => {
  for (
    const [line, message] of [
      ["nope", INVALID],
      [frame({ expires_at: NOW_S - 1 }), EXPIRED],
      [frame({ environment_id: "y" }), "exec-server executor credential is for a different environment"],
    ]
  ) {
    const rig = new Rig();
    rig.stdin.write(`${frame()}\n`);
    const { ended } = await rig.start();
    rig.stdin.write(`${line}\n`);
    await assert.rejects(ended, { name: "CredentialError", message: message! });
  }
});

Deno.test("a credential that expires is shown no more until a frame replaces it", async () => {
  const rig = new Rig();
  rig.stdin.write(`${frame({ expires_at: NOW_S + 10 })}\n`);
  const { credential, ended } = await rig.start();
  rig.now += 9_999;
  assert.deepEqual(await credential.headers(rig.stop.signal), { authorization: "Bearer tok-1" });
  rig.now += 1;
  await assert.rejects(credential.headers(rig.stop.signal), { message: EXPIRED, transient: false });
  rig.stdin.write(`${frame({ token: "tok-2" })}\n`);
  rig.stdin.close();
  await ended;
  assert.deepEqual(await credential.headers(rig.stop.signal), { authorization: "Bearer tok-2" });
});
