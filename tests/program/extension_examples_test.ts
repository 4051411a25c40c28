import assert from "node:assert/strict";
import { inTime } from "./eventually.ts";
import { RunningServer } from "./running_server.ts";
import { REQUESTS } from "../../lib/protocol/methods.ts";
import { SIGNAL_NAMES } from "../../lib/process/signal_name.ts";
import type { WireClient } from "../support/wire_client.ts";

const DOCUMENT = await Deno.readTextFile(new URL("../../docs/extensions.md", import.meta.url));
const EXAMPLES = [...DOCUMENT.matchAll(/^```jsonl\n([^]*?)^```$/gm)].map(([, lines]) => lines!.trim().split("\n"));
const ignore = Deno.build.os !== "linux";

/** A message with what differs from run to run made equal. */
function comparable(message: unknown): unknown {
  return JSON.parse(
    JSON.stringify(message, (name, value) => {
      if (name === "pid" || name === "startedAtMs") return Number.isSafeInteger(value) && value > 1 ? "some" : value;
      return value;
    }),
  );
}

/** Plays one example: sends what the client says, and waits for each thing that the server says. */
async function play(client: WireClient, lines: readonly string[]): Promise<void> {
  const received: unknown[] = [];
  let heard = Promise.withResolvers<void>();
  client.tap = (text) => {
    received.push(comparable(JSON.parse(text)));
    heard.resolve();
    return true;
  };
  const find = async (expected: unknown): Promise<void> => {
    for (;;) {
      heard = Promise.withResolvers();
      const index = received.findIndex((message) => isSame(message, expected));
      if (index >= 0) return void received.splice(index, 1);
      await inTime(`${JSON.stringify(expected)}; came instead: ${JSON.stringify(received)}`, heard.promise);
    }
  };
  for (const line of lines) {
    const [, direction, text] = line.match(/^([→←]) (.*)$/) ?? assert.fail(`a line of an example: ${line}`);
    if (direction === "→") client.send(text!);
    else await find(comparable(JSON.parse(text!)));
  }
  assert.deepEqual(received, [], "what the example does not show");
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

Deno.test({
  name: "every example of docs/extensions.md is what a server says over a WebSocket",
  ignore,
  async fn(t) {
    await using server = await RunningServer.start();
    for (const lines of EXAMPLES) {
      await t.step(lines[0]!.slice(0, 80), async () => {
        await using client = await server.connect();
        await client.initialize();
        await play(client, lines);
      });
    }
  },
});

Deno.test({
  name: "every example of docs/extensions.md but the one about leases is what a server says over stdio",
  ignore,
  async fn(t) {
    for (const lines of EXAMPLES.filter((lines) => !lines[0]!.includes("session/lease"))) {
      await t.step(lines[0]!.slice(0, 80), async () => {
        await using server = await RunningServer.start({ listen: "stdio" });
        await using client = await server.connect();
        await client.initialize();
        await play(client, lines);
      });
    }
  },
});

Deno.test("docs/extensions.md has every method of ours, with an example, and every signal", () => {
  const ours = Object.keys(REQUESTS).filter((name) => name.startsWith("execServer/")).sort();
  const shown = new Set(
    EXAMPLES.flat().flatMap((line) => line.match(/^→ .*"method":"(execServer\/[^"]*)"/)?.[1] ?? []),
  );
  assert.deepEqual([...shown].sort(), ours);
  for (const name of ours) assert.ok(DOCUMENT.includes(`| [\`${name}\``), name);
  for (const signal of SIGNAL_NAMES) assert.ok(DOCUMENT.includes(`\`${signal}\``), signal);
});
