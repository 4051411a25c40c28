/** What goes with requests, and what an exporter hears. */
import assert from "node:assert/strict";
import { RecordedTelemetry } from "../../support/recorded_telemetry.ts";
import type { Case } from "./case.ts";
import { through } from "./through.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

export const TELEMETRY: readonly Case[] = [
  {
    name: "without telemetry no request has a trace, and a caller's own trace is passed on",
    async run(place) {
      await using proxied = await through(place);
      const { client, messages } = proxied;
      await client.call("environment/status", null);
      await client.call("environment/status", null, { trace: { traceparent: TRACEPARENT, tracestate: "a=b" } });
      await client.call("environment/status", null, { trace: { traceparent: TRACEPARENT, tracestate: "" } });
      const [none, both, one] = messages.requests("environment/status");
      assert.ok(!("trace" in none!));
      assert.deepEqual(both!.trace, { traceparent: TRACEPARENT, tracestate: "a=b" });
      assert.deepEqual(one!.trace, { traceparent: TRACEPARENT });
    },
  },
  {
    name: "every request has a span of its own, whose context goes with it; notifications have none",
    async run(place) {
      const telemetry = new RecordedTelemetry();
      telemetry.current = { traceparent: TRACEPARENT };
      await using proxied = await through(place, { client: { telemetry } });
      const { client, messages } = proxied;
      await client.run({ argv: ["true"] });
      await client.files.stat(place.directory);
      for (const { message, from } of messages.seen) {
        if (from !== "client" || message.method === undefined) continue;
        if (message.id === undefined) assert.ok(!("trace" in message), message.method);
        else {
          const [span] = telemetry.named(message.method);
          assert.deepEqual(message.trace, { traceparent: span!.context.traceparent }, message.method);
          assert.equal(span!.kind, "client");
          assert.notEqual(span!.endedWith, undefined);
        }
      }
      assert.deepEqual(telemetry.named("fs/getMetadata")[0]!.parent, telemetry.current);
      const events = telemetry.named("fs/getMetadata")[0]!.events.map(({ name }) => name);
      assert.deepEqual(events, ["codex.exec_server.request_enqueued", "codex.exec_server.response_received"]);
      const notified = telemetry.named("codex.exec_server.notification");
      assert.deepEqual(notified.map(({ attributes }) => attributes["rpc.method"]).sort(), [
        "process/closed",
        "process/exited",
      ]);
    },
  },
  {
    name: "calls are counted before they are made, those that fail here too",
    async run(place) {
      const telemetry = new RecordedTelemetry();
      await using proxied = await through(place, {
        toServer: (message) => message.method === "environment/status" ? undefined : message,
        client: { telemetry },
      });
      const { client } = proxied;
      await assert.rejects(client.files.readDir(`${place.directory}/missing`));
      await assert.rejects(client.call("environment/status", null, { timeoutMs: 20 }), {
        kind: "callTimeout",
        message:
          "exec-server protocol error: timed out waiting for exec-server `environment/status` response after 20ms",
      });
      const unanswered = Array.from({ length: 1024 }, () => client.call("environment/status", null));
      unanswered.forEach((call) => call.catch(() => {}));
      await assert.rejects(client.call("environment/status", null), {
        message: "exec-server protocol error: exec-server has reached its limit of 1024 pending requests",
      });
      const counted = telemetry.counts.map(({ name, labels }) => `${name} ${labels["method"]}`);
      assert.deepEqual(counted.filter((each) => !each.endsWith("environment/info")), [
        "exec_server_client_requests_total initialize",
        "exec_server_client_requests_total fs/readDirectory",
        ...Array(1026).fill("exec_server_client_requests_total environment/status"),
      ]);
    },
  },
  {
    name: "a recovery that runs out of time is an event, with its stage and whose deadline it was",
    async run(place) {
      const telemetry = new RecordedTelemetry();
      const client = { telemetry, attachDeadlineMs: 200, recoveryDeadlineMs: 250 };
      await using proxied = await through(place, { client });
      proxied.wire.refusing = true;
      proxied.wire.cut();
      await proxied.client.call("environment/status", null).catch(() => {});
      await proxied.client.call("environment/status", null).catch(() => {});
      const [event] = telemetry.events.filter(({ name }) => name === "codex.exec_server.session_recovery_timeout");
      assert.equal(event!.fields["deadline_owner"], "attach_deadline");
      assert.equal(event!.fields["stage"], "backoff");
    },
  },
];
