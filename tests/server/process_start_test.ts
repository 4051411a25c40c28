import assert from "node:assert/strict";
import { parseJson } from "../../lib/json.ts";
import { silentLog } from "../../lib/log.ts";
import { ProcessTable } from "../../lib/process/process_table.ts";
import { startParams } from "../../lib/protocol/process.ts";
import { LazySandbox } from "../../lib/sandbox/lazy_sandbox.ts";
import type { Sandbox } from "../../lib/sandbox/sandbox.ts";
import { processStarter } from "../../lib/server/process_start.ts";
import type { Session } from "../../lib/server/session.ts";
import { FakeBackend } from "../support/fake_backend.ts";
import { FakeSandbox } from "../support/fake_sandbox.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { restricted, specialEntry } from "../support/sandbox_documents.ts";

Deno.test("a start that is still prepared when its connection ends is given up, and its id is free", async () => {
  const backend = new FakeBackend();
  const events = { output: () => true, exited: () => {}, closed: () => {} };
  using processes = new ProcessTable({ backend, clock: new ManualClock(), log: silentLog, events });
  const created = Promise.withResolvers<Sandbox>();
  using sandbox = new LazySandbox({ choice: "auto", secretPaths: [], log: silentLog }, () => created.promise);
  const start = processStarter({ observer: {}, inherited: () => new Map(), sandbox });
  const session = { id: "session", processes } as Session;
  const document = restricted([specialEntry("root", "read")]);
  const text = JSON.stringify({
    processId: "p",
    argv: ["/bin/true"],
    arg0: null,
    cwd: "file:///",
    env: {},
    tty: false,
    pipeStdin: false,
    sandbox: document,
  });
  const params = startParams.decode(parseJson(text));
  const connection = new AbortController();
  const started = start(params, { session, signal: connection.signal });
  assert.throws(() => processes.get("p"), { message: "process id p is starting" });
  connection.abort();
  await assert.rejects(async () => await started, { message: "process p start was cancelled" });
  assert.throws(() => processes.get("p"), { message: "unknown process id p" });
  created.resolve(new FakeSandbox());
  await created.promise;
  const again = start(params, { session, signal: new AbortController().signal });
  assert.equal((await again).processId, "p");
  assert.equal(backend.enforcements.length, 1);
});
