import assert from "node:assert/strict";
import type { RemoteOptions } from "../../lib/cli/remote_options.ts";
import { type RemoteScope, untilTold } from "../../lib/cli/until_told.ts";
import type { CredentialSources, RemoteCredential } from "../../lib/server/remote_credential.ts";
import { FakeCli } from "./fake_cli.ts";

const OPTIONS: RemoteOptions = {
  registry: "https://registry.example",
  environmentId: "environment",
  credential: { kind: "environment", trusted: [] },
  aws: null,
  exitOnStdinClose: false,
  logLevel: "info",
};

type Run = (scope: RemoteScope<string>) => Promise<void>;
type Choose = (sources: CredentialSources) => Promise<RemoteCredential<string>>;

const chosen: Choose = () => Promise.resolve({ auth: "credential" });
const untilSignal: Run = ({ signal }) =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

function begin(choose: Choose, run: Run): { cli: FakeCli; code: Promise<number> } {
  const cli = new FakeCli();
  return { cli, code: untilTold(OPTIONS, cli, choose, run) };
}

/** Lets promises settle that wait for no event. */
async function promisesSettled(): Promise<void> {
  for (let links = 0; links < 100; links++) await null;
}

Deno.test("untilTold runs with the credential until a signal, and what runs leaves before the program does", async () => {
  const events: string[] = [];
  const { cli, code } = begin(chosen, async (scope) => {
    events.push(`runs with ${scope.auth}`);
    await untilSignal(scope);
    events.push("left");
  });
  await promisesSettled();
  assert.ok(cli.signal("SIGTERM"));
  assert.equal(await code, 0);
  assert.deepEqual(events, ["runs with credential", "left"]);
  assert.match(cli.stderr.text, /INFO ending signal=SIGTERM\n$/);
  assert.equal(cli.signal("SIGTERM"), false, "nobody listens any more");
});

Deno.test("untilTold says a failure in one line and gives 1, whoever failed", async () => {
  const failed = Promise.reject(new Error("no more"));
  failed.catch(() => {});
  const cases: [Choose, Run][] = [
    [() => Promise.reject(new Error("no more")), untilSignal],
    [chosen, () => Promise.reject(new Error("no more"))],
    [() => Promise.resolve({ auth: "credential", ended: failed }), untilSignal],
  ];
  for (const [choose, run] of cases) {
    const { cli, code } = begin(choose, run);
    assert.equal(await code, 1);
    assert.equal(cli.stderr.text, "Error: no more\n");
  }
});

Deno.test("untilTold shows where a mistake of ours is", async () => {
  const { cli, code } = begin(chosen, () => Promise.reject(new TypeError("undefined is not a function")));
  assert.equal(await code, 1);
  assert.match(cli.stderr.text, /^Error: TypeError: undefined is not a function\n +at /);
});

Deno.test("untilTold ends with standard input where that is the life line", async () => {
  const life = Promise.withResolvers<void>();
  const { code } = begin(() => Promise.resolve({ auth: "credential", ended: life.promise }), untilSignal);
  await promisesSettled();
  life.resolve();
  assert.equal(await code, 0);
});

Deno.test("untilTold does not wait for a credential that does not come, nor for what does not leave", async () => {
  const waiting = begin(() => new Promise(() => {}), untilSignal);
  await promisesSettled();
  waiting.cli.signal("SIGINT");
  assert.equal(await waiting.code, 0);

  const staying = begin(chosen, () => new Promise(() => {}));
  await promisesSettled();
  staying.cli.signal("SIGINT");
  await promisesSettled();
  (staying.cli.clock as unknown as { advance(ms: number): void }).advance(1_000);
  assert.equal(await staying.code, 0);
});

Deno.test("untilTold ends with 1 at a fault that nobody has caught", async () => {
  const { cli, code } = begin(chosen, untilSignal);
  await promisesSettled();
  for (const hear of cli.faultListeners) hear(new Error("left over"));
  assert.equal(await code, 1);
  assert.equal(cli.stderr.text, "Error: left over\n");
  assert.equal(cli.faultListeners.size, 0);
});

Deno.test("untilTold gives 1 also when standard error is gone", async () => {
  const { cli, code } = begin(chosen, () => Promise.reject(new Error("no more")));
  cli.stderr.isGone = true;
  assert.equal(await code, 1);
});

Deno.test("untilTold ends also when nobody takes its last line", async () => {
  const { cli, code } = begin(chosen, () => Promise.reject(new Error("no more")));
  cli.stderr.blocked = new Promise(() => {});
  await promisesSettled();
  (cli.clock as unknown as { advance(ms: number): void }).advance(1_000);
  assert.equal(await code, 1);
});

Deno.test("untilTold hands standard input on in pieces of any size", async () => {
  const pieces: string[] = [];
  const cli = new FakeCli();
  for (const text of ["abc", "defgh", null]) cli.stdin.give(text);
  const choose: Choose = async ({ stdin }) => {
    const buffer = new Uint8Array(2);
    for (let count; (count = await stdin.read(buffer)) !== null;) {
      pieces.push(new TextDecoder().decode(buffer.subarray(0, count)));
    }
    return { auth: "credential" };
  };
  assert.equal(await untilTold(OPTIONS, cli, choose, () => Promise.resolve()), 0);
  assert.deepEqual(pieces, ["ab", "c", "de", "fg", "h"]);
});
