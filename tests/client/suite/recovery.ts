/** What happens when connections are lost. */
import assert from "node:assert/strict";
import type { ExecClient } from "../../../lib/client/client.ts";
import { connect } from "../../../lib/client/connect.ts";
import type { ExecProcess } from "../../../lib/client/process.ts";
import { eventually, inTime } from "../../program/eventually.ts";
import { TcpProxy } from "../support/tcp_proxy.ts";
import type { Case } from "./case.ts";
import { failsEverywhere } from "./streams.ts";
import { loseAnswerTo, SHORT, through } from "./through.ts";

const LOST = /^exec-server transport disconnected/;
/** Says its number every 10 ms. */
const COUNTER = ["sh", "-c", "n=0; while [ $n -lt 60 ]; do n=$((n + 1)); echo $n; sleep 0.01; done"];
const COUNTED = Array.from({ length: 60 }, (_, index) => `${index + 1}\n`).join("");

async function textOf(process: ExecProcess): Promise<string> {
  return await new Response(process.stdout).text();
}

export const RECOVERY: readonly Case[] = [
  {
    name: "a process is followed over outages, two in a row and one during the replay",
    async run(place) {
      let reads = 0;
      await using proxied = await through(place, {
        toServer: (message, link) => {
          if (message.method === "process/read" && reads++ === 0) link.close();
          return message;
        },
      });
      const { client, wire } = proxied;
      await using process = await client.start({ argv: COUNTER });
      const text = textOf(process);
      for (let outage = 0; outage < 2; outage++) {
        wire.cut();
        await settledCall(client);
      }
      assert.equal(await inTime("the text", text), COUNTED);
      assert.equal((await process.exited).code, 0);
      await process.closed;
      assert.ok(wire.accepted >= 4, `${wire.accepted} connections`);
    },
  },
  {
    name: "a process that ended during the outage is told whole: output, exit, close",
    async run(place) {
      await using proxied = await through(place);
      const { client, wire } = proxied;
      const go = `${place.directory}/go`;
      const argv = [
        "sh",
        "-c",
        `echo before; while [ ! -e ${go} ]; do sleep 0.01; done; echo after; echo ${"x".repeat(9)} >&2; exit 7`,
      ];
      await using process = await client.start({ argv });
      const events = Array.fromAsync(process);
      const states: string[] = [];
      wire.refusing = true;
      wire.cut();
      await eventually("the loss is seen", () => assert.equal(client.state, "recovering"));
      await Deno.writeTextFile(go, "");
      await new Promise((resolve) => setTimeout(resolve, 300)); // while nobody is connected
      wire.refusing = false;
      const seen = await inTime("the events", events);
      states.push(...seen.filter(({ type }) => type !== "output").map(({ type }) => type));
      assert.deepEqual(states, ["exited", "closed"]);
      assert.deepEqual(seen.map(({ seq }) => seq), seen.map((_, index) => index + 1));
      assert.equal((await process.exited).code, 7);
      assert.equal(await textOf(process), "before\nafter\n");
    },
  },
  {
    name: "calls wait for the recovery, or fail at once if they are told to",
    async run(place) {
      await using proxied = await through(place);
      await using hasty = await connect(proxied.wire.url, { ...SHORT, recovery: "failFast" });
      const { client, wire } = proxied;
      wire.refusing = true;
      wire.cut();
      for (const each of [client, hasty]) {
        await eventually("the loss is seen", () => assert.equal(each.state, "recovering"));
      }
      await assert.rejects(hasty.call("environment/status", null), {
        message: "exec-server environment is recovering",
      });
      const waiting = client.call("environment/status", null);
      wire.refusing = false;
      assert.deepEqual(await inTime("the answer", waiting), { status: "ready" });
    },
  },
  {
    name: "a session that the server still holds is asked for until it lets go",
    async run(place) {
      await using proxy = new TcpProxy(place.url);
      await using client = await connect(proxy.url, SHORT);
      proxy.cutForClients(700);
      assert.deepEqual(await settledCall(client), { status: "ready" });
      assert.ok(proxy.accepted > 3, `${proxy.accepted} connections`);
    },
  },
  {
    name: "a session that the server does not know any more is the end of the client, in the same words for all",
    async run(place) {
      let forget = false;
      await using proxied = await through(place, {
        toServer: (message) => {
          if (!forget || message.method !== "initialize") return message;
          return { ...message, params: { clientName: "suite", resumeSessionId: crypto.randomUUID() } };
        },
      });
      const { client, wire } = proxied;
      await using process = await client.start({ argv: ["sleep", "60"] });
      forget = true;
      wire.cut();
      await assert.rejects(process.closed, {
        kind: "disconnected",
        message:
          /^exec-server transport disconnected.*; failed to resume exec-server session: exec-server rejected request \(-32600\): unknown session id /,
      });
      assert.equal(client.state, "failed");
      await failsEverywhere(process, client.failure!.message);
      await assert.rejects(client.call("environment/status", null), (error) => error === client.failure);
      await assert.rejects(client.start({ argv: ["true"] }), (error) => error === client.failure);
      const last = await process.read();
      assert.equal(last.failure, client.failure!.message);
      assert.deepEqual([last.exited, last.closed, last.exitCode, last.chunks], [true, true, null, []]);
    },
  },
  {
    name: "another session than the one that was asked for is the end of the client",
    async run(place) {
      let resuming = false;
      await using proxied = await through(place, {
        toClient: (message) => {
          const result = message.result as { sessionId?: string } | undefined;
          if (!resuming || result?.sessionId === undefined) return message;
          return { id: message.id!, result: { ...result, sessionId: "another" } };
        },
      });
      resuming = true;
      proxied.wire.cut();
      await eventually("it fails", () => assert.equal(proxied.client.state, "failed"));
      assert.match(
        proxied.client.failure!.message,
        /; failed to resume exec-server session: exec-server protocol error: exec-server initialized an unexpected session another$/,
      );
    },
  },
  {
    name: "a server that stays away is given up after the attach deadline",
    async run(place) {
      await using proxied = await through(place, { client: { attachDeadlineMs: 500, recoveryDeadlineMs: 600 } });
      proxied.wire.refusing = true;
      proxied.wire.cut();
      await assert.rejects(proxied.client.call("environment/status", null).then(() => settledCall(proxied.client)), {
        message: LOST,
      });
      await eventually("it fails", () => assert.equal(proxied.client.state, "failed"));
      assert.match(
        proxied.client.failure!.message,
        /^exec-server transport disconnected.*; failed to resume exec-server session: recovery timed out after 500ms$/,
      );
    },
  },
  {
    name: "a replay that is not answered is given up after the recovery deadline",
    async run(place) {
      await using proxied = await through(place, {
        toServer: (message) => message.method === "process/read" ? undefined : message,
        client: { attachDeadlineMs: 400, recoveryDeadlineMs: 700 },
      });
      await using _process = await proxied.client.start({ argv: ["sleep", "60"] });
      proxied.wire.cut();
      await eventually("it fails", () => assert.equal(proxied.client.state, "failed"));
      assert.match(
        proxied.client.failure!.message,
        /; failed to resume exec-server session: recovery timed out after 700ms$/,
      );
    },
  },
  {
    name: "an outage before the first process, and one with nothing under way, go unnoticed",
    async run(place) {
      const states: string[] = [];
      await using proxied = await through(place, { client: { onState: (state) => states.push(state) } });
      const { client, wire } = proxied;
      for (let outage = 0; outage < 2; outage++) {
        wire.cut();
        await eventually("it is back", () => assert.equal(states.length, 3 + 2 * outage));
      }
      assert.deepEqual(states, ["connected", "disconnected", "connected", "disconnected", "connected"]);
      assert.equal((await client.run({ argv: ["echo", "hello"] })).stdoutText, "hello\n");
    },
  },
  {
    name: "what the server retains no longer fails its process, in words, and no other one",
    async run(place) {
      const go = `${place.directory}/go`;
      const flood = `while [ ! -e ${go} ]; do sleep 0.01; done; head -c 3000000 /dev/zero; echo > ${go}.done; sleep 60`;
      await using proxied = await through(place);
      const { client, wire } = proxied;
      await using process = await client.start({ argv: ["sh", "-c", flood], processId: "flood" });
      await using other = await client.start({
        argv: ["sh", "-c", `while [ ! -e ${go}.end ]; do sleep 0.01; done; echo end`],
      });
      wire.refusing = true;
      wire.cut();
      await eventually("the loss is seen", () => assert.equal(client.state, "recovering"));
      await Deno.writeTextFile(go, "");
      await eventually("the flood is over", () => assert.ok(exists(`${go}.done`)));
      wire.refusing = false;
      await assert.rejects(process.closed, {
        message:
          /^failed to recover process flood: exec-server protocol error: process events are no longer retained while recovering through sequence \d+$/,
      });
      await Deno.writeTextFile(`${go}.end`, "");
      assert.equal(await inTime("the other process", textOf(other)), "end\n");
      await eventually("it is ended", () => assert.equal(proxied.messages.requests("process/terminate").length, 1));
    },
  },
  {
    name: "an answer that is lost fails its call, and calls are not repeated",
    async run(place) {
      const path = `${place.directory}/once`;
      const lose = loseAnswerTo("fs/createDirectory");
      await using proxied = await through(place, lose);
      await assert.rejects(proxied.client.files.mkdir(path), { name: "FileError", kind: "BrokenPipe" });
      assert.ok((await Deno.stat(path)).isDirectory, "the server has done it");
      assert.equal(proxied.messages.requests("fs/createDirectory").length, 1);
    },
  },
  {
    name: "a start whose answer is lost fails, and the process is ended",
    async run(place) {
      const lose = loseAnswerTo("process/start");
      const lost = loseAnswerTo("execServer/process/start");
      await using proxied = await through(place, {
        toServer: (message, link) => lost.toServer!(lose.toServer!(message, link)!, link),
        toClient: (message, link) => {
          const kept = lose.toClient!(message, link);
          return kept === undefined ? undefined : lost.toClient!(kept, link);
        },
      });
      const { client, messages } = proxied;
      const alive = `${place.directory}/alive`;
      const argv = ["sh", "-c", `echo $$ > ${alive}; exec sleep 60`];
      await assert.rejects(client.start({ argv, processId: "ambiguous" }), { kind: "disconnected", message: LOST });
      await eventually("it is ended", () => {
        assert.deepEqual(messages.requests("process/terminate").map(({ params }) => params), [{
          processId: "ambiguous",
        }]);
        const pid = numberIn(alive);
        assert.ok(pid === undefined || !isAlive(pid));
      });
      // The name is free again for the client, though the server may remember it.
      await assert.rejects(client.start({ argv: ["true"], processId: "ambiguous" }).then((process) => process.closed), {
        kind: "server",
      });
    },
  },
  {
    name: "a write whose answer is lost is repeated under its number and has its effect once",
    async run(place) {
      await using proxied = await through(place, loseAnswerTo("process/write"));
      const { client, messages } = proxied;
      await using process = await client.start({
        argv: ["sh", "-c", "read one; read two; echo got $one $two"],
        stdin: true,
      });
      await process.write("first\n");
      await process.write("second\n");
      assert.equal(await inTime("the echo", textOf(process)), "got first second\n");
      const writeIds = messages.requests("process/write").map(({ params }) => (params as { writeId: string }).writeId);
      assert.deepEqual(writeIds, ["1", "1", "2"]);
    },
  },
  {
    name: "a write that the server never saw is repeated as well",
    async run(place) {
      let dropped = false;
      await using proxied = await through(place, {
        toServer: (message, link) => {
          if (message.method !== "process/write" || dropped) return message;
          dropped = true;
          link.close();
          return undefined;
        },
      });
      await using process = await proxied.client.start({ argv: ["sh", "-c", "read one; echo got $one"], stdin: true });
      await process.write("first\n");
      assert.equal(await inTime("the echo", textOf(process)), "got first\n");
    },
  },
  {
    name: "a read is repeated until it is answered",
    async run(place) {
      await using proxied = await through(place, loseAnswerTo("process/read"));
      await using process = await proxied.client.start({ argv: ["sh", "-c", "echo hello; sleep 60"] });
      await process.stdout.getReader().read();
      const { chunks } = await process.read({ afterSeq: 0 });
      assert.equal(chunks.length, 1);
    },
  },
];

/** The answer of a server that may be lost at first. */
async function settledCall(client: ExecClient): Promise<unknown> {
  try {
    return await client.call("environment/status", null);
  } catch {
    return await client.call("environment/status", null);
  }
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}

/** Undefined: the program was ended before it could write it. */
function numberIn(path: string): number | undefined {
  try {
    return Number(Deno.readTextFileSync(path)) || undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
