import assert from "node:assert/strict";
import type { ExecClient } from "../../../lib/client/client.ts";
import { connect } from "../../../lib/client/connect.ts";
import { MessageProxy, type WireMessage } from "../support/message_proxy.ts";
import type { Case } from "./case.ts";
import { SHORT, through } from "./through.ts";

interface Initialized {
  readonly sessionId: string;
  readonly environmentInfo?: Record<string, unknown>;
}

function isInitialized(message: WireMessage): message is WireMessage & { result: Initialized } {
  return typeof message.result === "object" && message.result !== null && "sessionId" in message.result;
}

export const INITIALIZE: readonly Case[] = [
  {
    name: "initialize comes first, then initialized, and ids count from 1 on each connection",
    async run(place) {
      await using proxied = await through(place, { client: { clientName: "suite" } });
      const { client, messages, wire } = proxied;
      await client.call("environment/status", null);
      wire.cut();
      await client.call("environment/status", null).catch(() => {}); // the cut may meet it
      await client.call("environment/status", null);
      for (const link of [0, 1]) {
        const [first, second, third] = messages.seen
          .filter((each) => each.from === "client" && each.link === link).map(({ message }) => message);
        const resumeSessionId = link === 0 ? null : client.sessionId;
        assert.deepEqual(first, { id: 1, method: "initialize", params: { clientName: "suite", resumeSessionId } });
        assert.deepEqual(second, { method: "initialized", params: {} });
        assert.deepEqual(third, { id: 2, method: "environment/status", params: null });
      }
    },
  },
  {
    name: "a server that does not answer initialize is given up in words",
    async run(place) {
      await using proxy = new MessageProxy(place.url, {
        toClient: (message) => isInitialized(message) ? undefined : message,
      });
      await assert.rejects(connect(proxy.url, { initializeTimeoutMs: 250 }), {
        name: "ClientError",
        kind: "initializeTimeout",
        message: "timed out waiting for exec-server initialize handshake after 250ms",
      });
    },
  },
  {
    name: "the environment's description is taken from the answer to initialize",
    async run(place) {
      await using proxied = await through(place);
      const info = await proxied.client.info();
      assert.equal(info.platformOs, Deno.build.os === "darwin" ? "macos" : Deno.build.os);
      assert.deepEqual(proxied.messages.requests("environment/info"), []);
    },
  },
  {
    name: "a description that the answer lacks is asked for once, also over a reconnect",
    async run(place) {
      await using proxied = await through(place, {
        toClient: (message) =>
          isInitialized(message) ? { id: message.id!, result: { sessionId: message.result.sessionId } } : message,
      });
      const { client, messages, wire } = proxied;
      const [one, other] = await Promise.all([client.info(), client.info()]);
      wire.cut();
      assert.deepEqual(await client.info(), one);
      assert.deepEqual(other, one);
      assert.equal(messages.requests("environment/info").length, 1);
    },
  },
  {
    name: "a description without a shell fails the attempt",
    async run(place) {
      await using proxy = new MessageProxy(place.url, {
        toClient: (message) => {
          if (!isInitialized(message)) return message;
          const { shell: _, ...environmentInfo } = message.result.environmentInfo ?? {};
          return { id: message.id!, result: { sessionId: message.result.sessionId, environmentInfo } };
        },
      });
      await assert.rejects(connect(proxy.url, SHORT), {
        name: "ClientError",
        kind: "json",
        message: /^failed to serialize or deserialize exec-server JSON: /,
      });
    },
  },
  {
    name: "thousands of notifications before the answer to initialize are neither lost nor in its way",
    async run(place) {
      let heard = 0;
      await using proxied = await through(place, {
        toClient: (message, link) => {
          if (!isInitialized(message)) return message;
          for (let watchId = 0; watchId < 3_000; watchId++) {
            link.toClient({ method: "fs/missingChanged", params: { watchId } });
          }
          return message;
        },
        client: { onNotification: () => heard++ },
      });
      await proxied.client.call("environment/status", null);
      assert.equal(heard, 3_000);
    },
  },
  {
    name: "a session is resumed by its id, and the client of a session that is not there fails in the server's words",
    async run(place) {
      await using first = await connect(place.url, SHORT);
      const { sessionId } = first;
      await first[Symbol.asyncDispose]();
      await using second: ExecClient = await connect(place.url, { ...SHORT, resumeSessionId: sessionId });
      assert.equal(second.sessionId, sessionId);
      const unknown = crypto.randomUUID();
      await assert.rejects(connect(place.url, { ...SHORT, resumeSessionId: unknown }), {
        kind: "server",
        code: -32600,
        message: `exec-server rejected request (-32600): unknown session id ${unknown}`,
      });
    },
  },
];
