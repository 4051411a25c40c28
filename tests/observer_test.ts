import assert from "node:assert/strict";
import { createLog } from "../lib/log.ts";
import { harmless, type Observer } from "../lib/observer.ts";

Deno.test("an observer that throws is told to the log, and whoever told it the event goes on", () => {
  const lines: string[] = [];
  const observer = harmless({
    processClosed() {
      throw new Error("exporter is gone");
    },
  }, createLog("error", (line) => lines.push(line)));
  observer.processClosed?.({ sessionId: "s", processId: "p" });
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, / ERROR the observer failed event=processClosed error="Error: exporter is gone/);
});

Deno.test("an observer hears every event as itself, and what it does not listen to is left out", () => {
  class Counter implements Observer {
    readonly heard: unknown[] = [];
    connectionOpened(event: unknown) {
      this.heard.push(event);
    }
  }
  const counter = new Counter();
  const observer = harmless(counter, createLog("off"));
  observer.connectionOpened?.({ connectionId: 1, transport: "stdio" });
  assert.deepEqual(counter.heard, [{ connectionId: 1, transport: "stdio" }]);
  assert.equal(observer.connectionEnded, undefined);
});

Deno.test("no event of an observer that throws reaches whoever told it", () => {
  const observer = harmless(
    new Proxy({}, {
      get: () => () => {
        throw new Error("exporter is gone");
      },
    }) as Observer,
    createLog("off"),
  );
  observer.connectionOpened?.({ connectionId: 1, transport: "relay" });
  observer.connectionEnded?.({ connectionId: 1, transport: "relay", reason: "closed" });
  const request = { connectionId: 1, requestNumber: 1, method: "m", trace: undefined };
  observer.requestReceived?.(request);
  observer.requestAnswered?.({ ...request, outcome: "success" });
  observer.processStarted?.({ sessionId: "s", processId: "p", tty: false });
  observer.processExited?.({ sessionId: "s", processId: "p", exitCode: 0 });
  observer.processClosed?.({ sessionId: "s", processId: "p" });
  observer.remoteRegistration?.({ outcome: "success", durationMs: 1 });
  observer.rendezvousConnect?.({ outcome: "error", durationMs: 1 });
  observer.rendezvousLost?.({ reason: "pong_timeout", lastedMs: 1 });
  observer.remoteRetry?.({ what: "rendezvous", afterMs: 1, reason: "pong_timeout", status: undefined });
  observer.handshakesPaused?.({ forMs: 1 });
  observer.handshakeRefused?.({ reason: "paused" });
  assert.equal(Object.keys(observer).length, 13);
});
