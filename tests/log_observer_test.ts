import assert from "node:assert/strict";
import { createLog } from "../lib/log.ts";
import { logObserver } from "../lib/log_observer.ts";

/** What the observer makes of a few events, without the time in front. */
function linesAt(level: "info" | "debug"): string[] {
  const lines: string[] = [];
  const observer = logObserver(createLog(level, (line) => lines.push(line.slice(line.indexOf(" ") + 1))));
  const request = { connectionId: 1, requestNumber: 2, method: "process/start", trace: undefined };
  observer.requestReceived?.(request);
  observer.requestAnswered?.({ ...request, outcome: "success" });
  observer.requestReceived?.({ ...request, method: "x".repeat(1_000_000) });
  observer.processStarted?.({ sessionId: "s", processId: "a b\n", tty: true });
  observer.processExited?.({ sessionId: "s", processId: "p", exitCode: 3 });
  observer.processClosed?.({ sessionId: "s", processId: "p" });
  observer.remoteRegistration?.({ outcome: "success", durationMs: 12.6 });
  observer.rendezvousConnect?.({ outcome: "error", durationMs: 10_000.1 });
  return lines;
}

Deno.test("a debug log has a line for every request, program and answer in remote mode, however they are called", () => {
  assert.deepEqual(linesAt("debug"), [
    "DEBUG request received connection=1 request=2 method=process/start\n",
    "DEBUG request answered connection=1 request=2 method=process/start outcome=success\n",
    `DEBUG request received connection=1 request=2 method=${"x".repeat(100)}\n`,
    'DEBUG process started session=s process="a b\\n" tty=true\n',
    "DEBUG process exited session=s process=p exitCode=3\n",
    "DEBUG process closed session=s process=p\n",
    "DEBUG registration answered outcome=success durationMs=13\n",
    "DEBUG rendezvous answered outcome=error durationMs=10000\n",
  ]);
  assert.deepEqual(linesAt("info"), []);
});
