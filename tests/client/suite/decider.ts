/** Questions of the server about a process's network. */
import assert from "node:assert/strict";
import type { NetworkDecider, StartOptions } from "../../../lib/client/process.ts";
import { eventually } from "../../program/eventually.ts";
import type { MessageLink, WireMessage } from "../support/message_proxy.ts";
import type { Case, Place } from "./case.ts";
import { type Proxied, through } from "./through.ts";

const TIMEOUT_MS = 400;
const PROXY: NonNullable<StartOptions["networkProxy"]> = {
  proxy: {
    ...{ enabled: true, enableSocks5: false, enableSocks5Udp: false, allowUpstreamProxy: false, mode: "limited" },
    ...{ dangerouslyAllowAllUnixSockets: false, domains: null, unixSockets: null, allowLocalBinding: false },
    ...{ reviewDomains: [], transparentTcp: false, credentialMasking: false, credentialProviders: new Map() },
  },
  auditMetadata: {
    ...{ conversationId: null, appVersion: null, userAccountId: null, authMode: null, originator: null },
    ...{ userEmail: null, terminalType: null, model: null, slug: null },
  },
  environmentId: null,
  executionId: null,
  policyDecisionTimeoutMs: TIMEOUT_MS,
};

/** A client whose proxy can ask in the place of the server, which is not told of the network proxy. */
async function questioned(place: Place): Promise<Proxied & { ask(message: WireMessage): void }> {
  let link: MessageLink | undefined;
  const proxied = await through(place, {
    toServer: (message, from) => {
      link = from;
      if (message.method === undefined) return undefined; // an answer to what the server has not asked
      if (!message.method?.endsWith("process/start")) return message;
      return { ...message, params: { ...message.params as object, networkProxy: null } };
    },
  });
  return Object.assign(proxied, { ask: (message: WireMessage) => link!.toClient(message) });
}

function question(id: string | number, processId: string, request: object = {}): WireMessage {
  const asked = { protocol: "https_connect", host: "example.com", port: 443, ...request };
  return { id, method: "network/policyRequest", params: { processId, request: asked } };
}

/** What the client answered under this id. */
async function answer({ messages }: Proxied, id: string | number): Promise<WireMessage> {
  let found: WireMessage | undefined;
  await eventually(`an answer to ${id}`, () => {
    found = messages.seen.find(({ from, message }) =>
      from === "client" && message.method === undefined && message.id === id
    )
      ?.message;
    assert.ok(found !== undefined);
  });
  return found!;
}

const DENIED = { decision: { type: "deny", reason: "not_allowed" } };

export const DECIDER: readonly Case[] = [
  {
    name: "a decider's allow, deny and ask reach the server, and a bad reason is replaced",
    async run(place) {
      await using proxied = await questioned(place);
      const decisions: Record<string, Awaited<ReturnType<NetworkDecider>>> = {
        "allowed.example": { type: "allow" },
        "denied.example": { type: "deny", reason: "because" },
        "asked.example": { type: "ask", reason: "perhaps" },
        "worded.example": { type: "deny", reason: "line\nbreak" },
      };
      await using process = await proxied.client.start({
        argv: ["sleep", "60"],
        networkProxy: PROXY,
        networkDecider: ({ host, port, protocol, processId }) => {
          assert.deepEqual([port, protocol, processId], [443, "https_connect", process.id]);
          return Promise.resolve(decisions[host]!);
        },
      });
      for (const [index, host] of Object.keys(decisions).entries()) proxied.ask(question(index, process.id, { host }));
      assert.deepEqual((await answer(proxied, 0)).result, { decision: { type: "allow" } });
      assert.deepEqual((await answer(proxied, 1)).result, { decision: { type: "deny", reason: "because" } });
      assert.deepEqual((await answer(proxied, 2)).result, { decision: { type: "ask", reason: "perhaps" } });
      assert.deepEqual((await answer(proxied, 3)).result, DENIED);
    },
  },
  {
    name: "what cannot be asked or is not decided in time is denied",
    async run(place) {
      await using proxied = await questioned(place);
      await using undecided = await proxied.client.start({
        argv: ["sleep", "60"],
        networkProxy: PROXY,
        networkDecider: () => new Promise(() => {}),
      });
      await using silent = await proxied.client.start({ argv: ["sleep", "60"] });
      const asked = [
        question(1, silent.id),
        question(2, "nobody"),
        question(3, ""),
        question(4, undecided.id, { host: "" }),
        question(5, undecided.id, { host: "two words" }),
        question(6, undecided.id, { host: "x".repeat(254) }),
        question(7, undecided.id),
      ];
      for (const each of asked) proxied.ask(each);
      for (const { id } of asked) assert.deepEqual((await answer(proxied, id!)).result, DENIED, `question ${id}`);
      proxied.ask(question(8, silent.id, { protocol: "carrier pigeon" }));
      assert.deepEqual((await answer(proxied, 8)).error, {
        code: -32602,
        message: "invalid network policy request params",
      });
    },
  },
  {
    name: "a decider and its time limit belong together",
    async run(place) {
      await using proxied = await questioned(place);
      const message = /network policy decision callback timeout must match the configured decider and be nonzero/;
      const networkDecider: NetworkDecider = () => Promise.resolve({ type: "allow" });
      await assert.rejects(proxied.client.start({ argv: ["true"], networkDecider }), { message });
      await assert.rejects(proxied.client.start({ argv: ["true"], networkProxy: PROXY }), { message });
    },
  },
  {
    name: "other requests of the server are refused by name, and a bad id costs the connection",
    async run(place) {
      await using proxied = await questioned(place);
      await proxied.client.call("environment/status", null);
      proxied.ask({ id: 1, method: "sing/song", params: {} });
      assert.deepEqual((await answer(proxied, 1)).error, {
        code: -32601,
        message: "exec-server client does not implement `sing/song` yet",
      });
      proxied.ask(question("word", "nobody"));
      await eventually("it is lost", () => assert.equal(proxied.losses(), 1));
      await proxied.client.call("environment/status", null).catch(() => {}); // the loss may meet it
      proxied.ask(question(-1, "nobody"));
      await eventually("it is lost", () => assert.equal(proxied.losses(), 2));
      assert.deepEqual((await proxied.client.call("environment/status", null)).status, "ready");
    },
  },
];
