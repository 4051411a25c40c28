import assert from "node:assert/strict";
import { ExecClient } from "../../lib/client/client.ts";
import type { ExecProcess, ProcessEvent, StartOptions } from "../../lib/client/process.ts";
import { parseJson } from "../../lib/json.ts";
import { REQUESTS } from "../../lib/protocol/methods.ts";
import { type FarEnd, idle, ScriptedCarrier, type Wire } from "../support/scripted_server.ts";

/**
 * What codex-cli 0.171.0 said to its own server while its connections were cut, as scripts: the server's part is played,
 * ours must be the same word for word. The look-ups of files at the start are left out, and numbers count without them.
 * `lost`: the client never got it.
 */
interface Line {
  readonly conn: number;
  readonly event?: "open";
  readonly dir?: "c2s" | "s2c";
  readonly msg?: Wire;
  readonly lost?: true;
}

function readRecording(name: string): Line[] {
  const text = Deno.readTextFileSync(new URL(`recordings/${name}.jsonl`, import.meta.url));
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Plays the server's part to its end; at the beginning of a connection the one before is cut. */
async function play(lines: readonly Line[], carrier: ScriptedCarrier): Promise<void> {
  const ends = new Map<number, FarEnd>();
  for (const { conn, event, dir, msg, lost } of lines) {
    if (event === "open") {
      await ends.get(conn - 1)?.close();
      ends.set(conn, await carrier.accept());
    } else if (dir === "c2s") {
      assert.deepEqual(await ends.get(conn)!.next(), msg);
    } else if (!lost) {
      ends.get(conn)!.send(msg);
      await idle();
    }
  }
}

/** The starts of a recording as our options. */
function startsOf(lines: readonly Line[]): StartOptions[] {
  const starts = lines.filter(({ msg }) => msg?.method === "process/start").map(({ msg }) => msg.params);
  return starts.map((wire) => {
    const params = REQUESTS["process/start"].params.decode(parseJson(JSON.stringify(wire)));
    const { processId, metadata, argv, cwd, envPolicy, env, tty, pipeStdin } = params;
    return { processId, metadata, argv, cwd, envPolicy, env: Object.fromEntries(env), tty, stdin: pipeStdin };
  });
}

async function eventsOf(process: ExecProcess): Promise<string[]> {
  const events: string[] = [];
  const decoder = new TextDecoder();
  const tell = (event: ProcessEvent) =>
    event.type === "output"
      ? decoder.decode(event.bytes).trimEnd()
      : event.type === "exited"
      ? `exited ${event.code}`
      : event.type;
  for await (const event of process) events.push(`${event.seq} ${tell(event)}`);
  return events;
}

function testRecording(
  name: string,
  sentence: string,
  act: (client: ExecClient, starts: readonly StartOptions[]) => Promise<void>,
): void {
  Deno.test(`recording ${name}: ${sentence}`, async () => {
    const lines = readRecording(name);
    const carrier = new ScriptedCarrier({ pauseMs: 0 });
    const playing = play(lines, carrier);
    const acting = (async () => {
      const client = await ExecClient.connect(carrier, { clientName: "codex-environment" });
      await act(client, startsOf(lines));
      await client[Symbol.asyncDispose]();
    })();
    await Promise.all([playing, acting]);
  });
}

/** What the recorded client does when a process of its has ended. */
async function terminate(client: ExecClient, processId: string): Promise<boolean> {
  return (await client.call("process/terminate", { processId })).running;
}

testRecording("resume", "the connection is cut under a running program", async (client, [start]) => {
  const process = await client.start(start!);
  assert.deepEqual(await eventsOf(process), ["1 1", "2 2", "3 3", "4 4", "5 5", "6 6", "7 exited 0", "8 closed"]);
  assert.equal(await terminate(client, process.id), false);
});

testRecording("resume-after-end", "the program ends while there is no connection", async (client, [start]) => {
  const process = await client.start(start!);
  assert.deepEqual(await eventsOf(process), ["1 1", "2 2", "3 3", "4 4", "5 exited 9", "6 closed"]);
  assert.equal(await terminate(client, process.id), false);
});

testRecording(
  "resume-refused-then-accepted",
  "the server still holds the old connection, and lets go of it after a while",
  async (client, [start]) => {
    const process = await client.start(start!);
    assert.deepEqual(await eventsOf(process), ["1 1", "2 2", "3 3", "4 4", "5 5", "6 exited 0", "7 closed"]);
    assert.equal(await terminate(client, process.id), false);
  },
);

testRecording(
  "start-without-answer",
  "a start whose answer got lost fails, and what it may have begun is ended beside the next call",
  async (client, [first, second]) => {
    await assert.rejects(client.start(first!), { message: "exec-server transport disconnected" });
    const process = await client.start(second!);
    assert.deepEqual(await eventsOf(process), ["1 exited 0", "2 closed"]);
    assert.equal(await terminate(client, process.id), false);
  },
);

testRecording(
  "write-without-answer",
  "a write whose answer got lost is repeated under its number, after the replay",
  async (client, [start]) => {
    const process = await client.start(start!);
    await process.write("line\n");
    assert.equal(await terminate(client, process.id), true);
    assert.deepEqual(await eventsOf(process), ["1 line", "2 line", "3 exited 1", "4 closed"]);
    assert.equal(await terminate(client, process.id), false);
  },
);
