/** The order of a process's events, whatever the order in which they come. */
import assert from "node:assert/strict";
import type { ExecClient } from "../../../lib/client/client.ts";
import type { ExecProcess, ProcessEvent } from "../../../lib/client/process.ts";
import { eventually } from "../../program/eventually.ts";
import type { MessageLink, WireMessage } from "../support/message_proxy.ts";
import type { Case } from "./case.ts";
import { through } from "./through.ts";

/** A notification about a process. */
interface EventParams {
  readonly processId: string;
  readonly seq: number;
}

function eventOf({ method, params }: WireMessage): EventParams | undefined {
  return method?.startsWith("process/") ? params as EventParams : undefined;
}

/** Holds back the events of every process until `closed` has come, and lets them out as `order` says. */
function reordered(order: (events: WireMessage[]) => WireMessage[]) {
  const held = new Map<string, WireMessage[]>();
  return (message: WireMessage, link: MessageLink): WireMessage | undefined => {
    const event = eventOf(message);
    if (event === undefined) return message;
    const events = held.get(event.processId) ?? [];
    held.set(event.processId, events);
    events.push(message);
    const seqs = events.map((each) => eventOf(each)!.seq);
    const closedSeq = events.map((each) => each.method === "process/closed" ? eventOf(each)!.seq : 0).find((seq) =>
      seq > 0
    );
    // Exit and close may overtake output: all numbers up to the close must be there.
    if (closedSeq !== undefined && seqs.length === closedSeq) order(events).forEach(link.toClient);
    return undefined;
  };
}

const TALKER = ["sh", "-c", "for n in 1 2 3 4 5 6; do echo $n; sleep 0.02; done"];

async function eventsOf(client: ExecClient, argv: readonly string[] = TALKER): Promise<ProcessEvent[]> {
  await using process = await client.start({ argv });
  return await Array.fromAsync(process);
}

function assertOrdered(events: readonly ProcessEvent[]): void {
  assert.deepEqual(events.map(({ seq }) => seq), events.map((_, index) => index + 1));
  const output = events.flatMap((event) => event.type === "output" ? [...event.bytes] : []);
  assert.equal(new TextDecoder().decode(new Uint8Array(output)), "1\n2\n3\n4\n5\n6\n");
  assert.equal(events.filter(({ type }) => type === "exited").length, 1);
  assert.equal(events.at(-1)?.type, "closed");
}

export const STREAMS: readonly Case[] = [
  {
    name: "events that come backwards, the close first, are delivered in their order",
    async run(place) {
      await using proxied = await through(place, { toClient: reordered((events) => events.toReversed()) });
      assertOrdered(await eventsOf(proxied.client));
    },
  },
  {
    name: "events that come twice are delivered once",
    async run(place) {
      await using proxied = await through(place, {
        toClient: reordered((events) => [...events, ...events.toReversed()].flatMap((event) => [event, event])),
      });
      assertOrdered(await eventsOf(proxied.client));
    },
  },
  {
    name: "events that come before the answer to the start are kept",
    async run(place) {
      let held: WireMessage | undefined;
      await using proxied = await through(place, {
        toClient: (message, link) => {
          if (message.method === "process/closed") {
            link.toClient(message);
            link.toClient(held);
            return undefined;
          }
          const result = message.result as Record<string, unknown> | undefined;
          if (result?.["processId"] === undefined) return message;
          held = message;
          return undefined;
        },
      });
      assertOrdered(await eventsOf(proxied.client));
    },
  },
  {
    name: "unknown notifications, those of unknown processes and answers to nothing are ignored",
    async run(place) {
      const process = { processId: "nobody's", seq: 1 };
      await using proxied = await through(place, {
        toClient: (message, link) => {
          if (eventOf(message) === undefined) return message;
          link.toClient({ method: "some/news", params: [1, 2] });
          link.toClient({ method: "process/output", params: { ...process, stream: "stdout", chunk: "AAAA" } });
          link.toClient({ method: "process/closed", params: process });
          link.toClient({ id: 1_000_000, result: {} });
          link.toClient({ id: "word", error: { code: 1, message: "none" } });
          return { ...message, params: { ...message.params as object, more: { than: "known" } } };
        },
      });
      assertOrdered(await eventsOf(proxied.client));
      assert.equal(proxied.client.state, "connected");
      assert.equal(proxied.losses(), 0);
    },
  },
  {
    name: "a process with too many early events fails by itself, and others go on",
    async run(place) {
      const victim = "victim";
      await using proxied = await through(place, {
        toClient: (message, link) => {
          const event = eventOf(message);
          if (event === undefined || event.processId !== victim || event.seq > 1) return message;
          for (let seq = 3; seq < 3 + 257; seq++) {
            link.toClient({ method: "process/output", params: { ...event, seq, stream: "stdout", chunk: "AA==" } });
          }
          return undefined;
        },
      });
      await using other = await proxied.client.start({ argv: TALKER });
      await using process = await proxied.client.start({ argv: ["sh", "-c", "echo; sleep 60"], processId: victim });
      await failsEverywhere(process, "process event reorder buffer exceeds 256 entries");
      assertOrdered(await Array.fromAsync(other));
      assert.equal(proxied.losses(), 0);
    },
  },
  {
    name: "a message that is none, or a known notification without its members, costs the connection and nothing else",
    async run(place) {
      for (const bad of ["[]", "{}", "not JSON", '{"method":"process/closed","params":{}}', '{"id":null,"error":{}}']) {
        let link: MessageLink | undefined;
        await using proxied = await through(place, {
          toServer: (message, from) => {
            link = from;
            return message;
          },
        });
        await using process = await proxied.client.start({ argv: TALKER });
        link!.toClient(bad);
        assertOrdered(await Array.fromAsync(process));
        await eventually(`${bad} costs the connection`, () => assert.equal(proxied.losses(), 1));
      }
    },
  },
];

/** Everything that can be waited for rejects with the same error. */
export async function failsEverywhere(process: ExecProcess, message: string): Promise<void> {
  const errors = await Promise.all(
    [process.exited, process.closed, Array.fromAsync(process), new Response(process.stdout).text()].map((promise) =>
      (promise as Promise<unknown>).then(() => assert.fail("it ended well"), (error) => error as Error)
    ),
  );
  for (const error of errors) {
    assert.equal(error.message, message);
    assert.equal(error, errors[0], "one error for everybody");
  }
}
