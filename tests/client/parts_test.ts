import assert from "node:assert/strict";
import { ExecClient } from "../../lib/client/client.ts";
import { disconnected } from "../../lib/client/client_error.ts";
import { Dialer } from "../../lib/client/dialer.ts";
import { Parts } from "../../lib/client/parts.ts";
import type { ServerConnection } from "../../lib/client/server_connection.ts";
import { createLog } from "../../lib/log.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { ScriptedCarrier } from "../support/scripted_server.ts";

const NO_CONNECTION = undefined as unknown as ServerConnection;

function logged() {
  const lines: string[] = [];
  return { log: createLog("debug", (line) => lines.push(line)), lines };
}

Deno.test("Parts tells all of them in order, whatever one of them makes of it", async () => {
  const { log, lines } = logged();
  const parts = new Parts({}, log);
  const told: string[] = [];
  parts.add({
    disconnected: () => {
      throw new Error("defect of the first");
    },
    failed: () => {
      throw new Error("another defect");
    },
    replay: () => Promise.resolve(void told.push("replay 1")),
  });
  parts.add({
    disconnected: () => void told.push("disconnected"),
    failed: () => void told.push("failed"),
    replay: () => Promise.resolve(void told.push("replay 2")),
  });
  parts.add({});
  parts.disconnected(disconnected());
  await parts.settled();
  await parts.replay(NO_CONNECTION, new AbortController().signal);
  parts.failed(disconnected());
  assert.deepEqual(told, ["disconnected", "replay 1", "replay 2", "failed"]);
  assert.equal(lines.filter((line) => line.includes("defect")).length, 2);
});

Deno.test("listeners that throw are told to the log and change nothing", async () => {
  const { log, lines } = logged();
  const carrier = new ScriptedCarrier();
  const connecting = ExecClient.connect(carrier, {
    log,
    clock: new ManualClock(),
    onState: () => {
      throw new Error("state");
    },
    onNotification: () => {
      throw new Error("notification");
    },
  });
  const server = await carrier.acceptAndShakeHands();
  const client = await connecting;
  server.send({ method: "process/closed", params: { processId: "p", seq: 1 } });
  const call = client.call("environment/status", null);
  server.answer((await server.request("environment/status")).id, { status: "ready" });
  await call;
  assert.equal(client.state, "connected");
  await client[Symbol.asyncDispose]();
  for (const words of ["Error: state", "Error: notification"]) {
    assert.ok(lines.some((line) => line.includes("ERROR") && line.includes(words)), words);
  }
});

Deno.test("a carrier whose connection does not go as it should is told to the log, and is no reason to wait", async () => {
  const { log, lines } = logged();
  const carrier = new ScriptedCarrier();
  carrier.acts.push(() => Promise.resolve({ gone: Promise.reject(new Error("stuck")) }));
  const dialer = new Dialer(carrier, log);
  await dialer.open({ signal: new AbortController().signal });
  await dialer.gone();
  assert.ok(lines.some((line) => line.includes("stuck")));
});
