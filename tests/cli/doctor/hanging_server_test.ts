import assert from "node:assert/strict";
import type { Client } from "../../../lib/cli/client.ts";
import { doctor } from "../../../lib/cli/doctor.ts";
import { runDoctor } from "../../../lib/cli/doctor_run.ts";
import { parseCommand } from "../../../lib/cli/parse_command.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { FakeCli } from "../fake_cli.ts";

Deno.test("a server that stops to answer costs the patience for one check, whatever does not answer", async () => {
  const clock = new ManualClock();
  const cli = new FakeCli(clock);
  cli.variables["HOME"] = "/nowhere";
  const info = {
    platformOs: "linux",
    executorVersion: "0",
    serverInfo: null,
    capabilities: {},
    tempDir: "file:///tmp",
  };
  const asked: string[] = [];
  /** Neither answers nor heeds a signal. */
  const hangs = (what: string) => () => {
    asked.push(what);
    queueMicrotask(() => clock.advance(15_000));
    return new Promise<never>(() => {});
  };
  const client = {
    state: "connected",
    info: () => Promise.resolve(info),
    hasExtensions: () => Promise.resolve(true),
    status: () => Promise.resolve({ state: "ready" }),
    run: () => Promise.resolve({ code: 0, signal: null, stdoutText: "it runs; it is one", stderrText: "" }),
    files: { writeFile: hangs("write"), remove: hangs("remove") },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  } as unknown as Client;
  const code = await runDoctor(doctor, parseCommand(doctor, ["--json"]), cli, {
    open: () => Promise.resolve(client),
    lookAtBackEnds: () => Promise.resolve([]),
  });
  const findings = cli.stdout.text.trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(code, 1);
  assert.deepEqual(asked, ["write"]);
  const { detail } = findings.find(({ name }) => name === "files");
  assert.equal(detail, "nothing came of it within 15 s");
  assert.deepEqual(findings.filter(({ status }) => status === "skipped").map(({ name }) => name), [
    "copying",
    "sandbox",
  ]);
  assert.equal(clock.pendingTimers, 0);
});
