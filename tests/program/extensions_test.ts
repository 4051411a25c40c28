import assert from "node:assert/strict";
import { WireClient } from "../support/wire_client.ts";
import { eventually, inTime } from "./eventually.ts";
import { writtenBytes } from "./proc.ts";
import { type ProgramSpec, startParams } from "./process_watch.ts";
import { RunningServer } from "./running_server.ts";

const ignore = Deno.build.os !== "linux";
/** What the queue of a process takes besides the chunk being written. */
const QUEUE_CHUNKS = 128;

interface Status {
  readonly processId: string;
  readonly pid: number;
  readonly hasStdin: boolean;
  readonly end: { readonly exitCode: number; readonly signal: string | null; readonly reason: string } | null;
  readonly closed: boolean;
}

function status(client: WireClient, processId: string): Promise<Status> {
  return client.request("execServer/process/status", { processId });
}

/** Starts a program by our own method; gives its pid. */
async function start(client: WireClient, processId: string, spec: ProgramSpec, more: object = {}): Promise<number> {
  await client.request("execServer/process/start", { ...startParams(processId, spec), ...more });
  return (await status(client, processId)).pid;
}

/** What a process has said by the time it is closed, and its exit code. */
async function readToEnd(client: WireClient, processId: string): Promise<{ text: string; exitCode: number }> {
  let text = "";
  for (let afterSeq = 0;;) {
    const query = { processId, afterSeq, waitMs: 20_000 };
    const read = await client.request<
      { chunks: { chunk: string }[]; nextSeq: number; closed: boolean; exitCode: number }
    >(
      "process/read",
      query,
    );
    text += read.chunks.map(({ chunk }) => atob(chunk)).join("");
    if (read.closed) return { text, exitCode: read.exitCode };
    afterSeq = read.nextSeq - 1;
  }
}

async function stopped(pid: number): Promise<void> {
  const state = () => Deno.readTextFileSync(`/proc/${pid}/stat`).match(/\) (\w)/)?.[1];
  await eventually("the program has stopped", () => assert.equal(state(), "T"));
}

/** Resolves when a program that writes without end has been made to wait. */
async function heldUp(pid: number): Promise<void> {
  let before = -1;
  let still = 0;
  await eventually("the program is held up", () => {
    const now = writtenBytes(pid);
    still = now === before ? still + 1 : 0;
    before = now;
    assert.ok(still >= 5, `it has written ${now} bytes`);
  });
}

async function goesOn(pid: number): Promise<void> {
  const before = writtenBytes(pid);
  await eventually("the program goes on", () => assert.ok(writtenBytes(pid) > before + 1_000_000));
}

for (const listen of ["ws", "stdio"] as const) {
  Deno.test({
    name: `a program that reads late reads all that was written before its stdin was closed, over ${listen}`,
    ignore,
    async fn() {
      await using server = await RunningServer.start({ listen });
      await using client = await server.connect();
      await client.initialize();
      const pid = await start(client, "p", { argv: ["sh", "-c", "kill -STOP $$; exec wc -c"], pipeStdin: true });
      await stopped(pid);
      const write = (bytes: number, writeId: string) =>
        client.request("process/write", { processId: "p", chunk: new Uint8Array(bytes).toBase64(), writeId });
      await write(100_000, "large"); // more than a pipe holds
      for (let index = 0; index < QUEUE_CHUNKS; index++) await write(10, `${index}`);
      const close = () => client.request("execServer/process/closeStdin", { processId: "p" });
      assert.deepEqual(await inTime("the answer to closeStdin", close()), { status: "accepted" });
      assert.deepEqual(await close(), { status: "accepted" });
      assert.deepEqual(await write(10, "late"), { status: "stdinClosed" });
      assert.deepEqual(await write(10, "0"), { status: "accepted" });
      assert.equal((await status(client, "p")).hasStdin, false);
      await client.request("execServer/process/signal", { processId: "p", signal: "SIGCONT" });
      assert.deepEqual(await readToEnd(client, "p"), { text: `${100_000 + 10 * QUEUE_CHUNKS}\n`, exitCode: 0 });
    },
  });

  for (const tty of [false, true]) {
    Deno.test({
      name: `a program is held for as long as the client wants, ${tty ? "on a terminal" : "on pipes"}, over ${listen}`,
      ignore,
      async fn() {
        await using server = await RunningServer.start({ listen });
        await using client = await server.connect();
        await client.initialize();
        const pid = await start(client, "yes", { argv: ["yes"], tty });
        const hold = (hold: boolean) => client.request("execServer/process/holdOutput", { processId: "yes", hold });
        for (let times = 0; times < 2; times++) {
          await hold(true);
          await heldUp(pid);
          await hold(false);
          await goesOn(pid);
        }
        await hold(true);
        await client.request("process/terminate", { processId: "yes" });
        await eventually("it is gone", () => assert.throws(() => Deno.statSync(`/proc/${pid}`)));
        const { end } = await status(client, "yes");
        assert.deepEqual(end, { exitCode: tty ? 1 : 137, signal: "SIGKILL", reason: "terminated" });
      },
    });
  }
}

Deno.test({
  name: "a program that is held goes on when its connection ends, and the next connection finds it with all others",
  ignore,
  async fn() {
    await using server = await RunningServer.start();
    const first = await server.connect();
    const session = await first.initialize();
    const pid = await start(first, "yes", { argv: ["yes"] });
    await start(first, "shell", {
      argv: ["sh", "-c", "trap 'stty size' WINCH; trap 'exit 7' USR1; while :; do sleep 0.01; done"],
      tty: true,
    });
    await first.request("process/start", startParams("stock", { argv: ["true"] }));
    await first.request("execServer/process/holdOutput", { processId: "yes", hold: true });
    await heldUp(pid);
    await first[Symbol.asyncDispose]();
    await goesOn(pid);

    await using second = await server.connect();
    assert.equal(await second.initialize(session), session);
    const { processes } = await second.request<{ processes: Status[] }>("execServer/process/list");
    assert.deepEqual(processes.map(({ processId, end }) => [processId, end?.reason ?? "runs"]), [
      ["yes", "runs"],
      ["shell", "runs"],
      ["stock", "exited"],
    ]);
    await second.request("execServer/process/resize", { processId: "shell", size: { rows: 11, columns: 222 } });
    await second.request("process/read", { processId: "shell", waitMs: 20_000 });
    await second.request("execServer/process/signal", { processId: "shell", signal: "SIGUSR1" });
    const { text, exitCode } = await readToEnd(second, "shell");
    assert.equal(exitCode, 7);
    assert.match(text, /^11 222\r\n/);
  },
});

Deno.test({
  name: "a time limit ends a program with all its group, whether or not anybody is connected",
  ignore,
  async fn() {
    await using server = await RunningServer.start();
    const first = await server.connect();
    const session = await first.initialize();
    const stubborn = ["sh", "-c", "trap '' TERM INT HUP; sleep 1000 & wait"] as const;
    const pid = await start(first, "slow", { argv: stubborn }, { timeLimitMs: 300 });
    await first[Symbol.asyncDispose]();
    const members = () =>
      [...Deno.readDirSync("/proc")].filter(({ name }) => /^\d+$/.test(name)).filter(({ name }) => {
        try {
          return Deno.readTextFileSync(`/proc/${name}/stat`).replace(/^.*\) /, "").split(" ")[2] === `${pid}`;
        } catch {
          return false; // it ended while we looked
        }
      }).length;
    await eventually("nobody of its group is left", () => assert.equal(members(), 0));
    await using second = await server.connect();
    await second.initialize(session);
    const { end, closed } = await status(second, "slow");
    assert.deepEqual([end, closed], [{ exitCode: 137, signal: "SIGKILL", reason: "timeLimit" }, true]);
  },
});

Deno.test({
  name: "leases are granted as the command line says, and none over stdio",
  ignore,
  async fn() {
    const lease = async (options: { listen: "ws" | "stdio"; options?: string[] }): Promise<number> => {
      await using server = await RunningServer.start(options);
      await using client = await server.connect();
      await client.initialize();
      const { durationMs } = await client.request<{ durationMs: number }>("execServer/session/lease", {
        durationMs: Number.MAX_SAFE_INTEGER,
      });
      return durationMs;
    };
    assert.equal(await lease({ listen: "ws" }), 24 * 3_600_000);
    assert.equal(await lease({ listen: "ws", options: ["--max-detached", "1h30m"] }), 5_400_000);
    assert.equal(await lease({ listen: "ws", options: ["--max-detached", "0"] }), 0);
    assert.equal(await lease({ listen: "stdio" }), 0);
  },
});

Deno.test({
  name: "a page that --allow-origin names can connect, and no other",
  ignore,
  async fn() {
    const [one, two] = ["https://app.example.com", "http://localhost:3000"];
    await using server = await RunningServer.start({ options: ["--allow-origin", one, "--allow-origin", two] });
    for (const origin of [one, two]) {
      await using client = await WireClient.connect(server.url, { origin });
      await client.initialize();
    }
    for (const origin of ["https://app.example.com.evil.example", "null"]) {
      await assert.rejects(WireClient.connect(server.url, { origin }), /403/);
    }
  },
});
