import assert from "node:assert/strict";
import type { ExecProcess, ProcessEvent } from "../../../lib/client/process.ts";
import { copyOutput } from "../../../lib/cli/program/output.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { FakeCli } from "../fake_cli.ts";

type Told = Omit<ProcessEvent & { bytes?: unknown }, "seq" | "bytes"> & { text?: string };

/** A program whose events come when the test says so. */
class Program {
  /** Whether nobody listens any more. */
  left = false;
  #seq = 0;
  readonly #events: ProcessEvent[] = [];
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  tell(told: Told): void {
    const { text = "", ...event } = told;
    this.#events.push({ ...event, seq: ++this.#seq, bytes: new TextEncoder().encode(text) } as unknown as ProcessEvent);
    this.#wake?.();
  }

  writes(text: string, stream: "stdout" | "stderr" | "pty" = "stdout"): void {
    this.tell({ type: "output", stream, text } as Told);
  }

  exits(): void {
    this.tell({ type: "exited", code: 0, sandboxDenied: false } as unknown as Told);
  }

  fail(error: Error): void {
    this.#failure = error;
    this.#wake?.();
  }

  [Symbol.asyncIterator](): AsyncIterator<ProcessEvent> {
    return {
      next: async () => {
        while (this.#events.length === 0) {
          if (this.#failure !== undefined) throw this.#failure;
          await new Promise<void>((resolve) => this.#wake = resolve);
        }
        return { done: false, value: this.#events.shift()! };
      },
      return: () => {
        this.left = true;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
}

function scene() {
  const clock = new ManualClock();
  const cli = new FakeCli(clock);
  const program = new Program();
  const copied = copyOutput(program as unknown as ExecProcess, cli);
  return { clock, cli, program, copied };
}

async function settled(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

Deno.test("output goes to the descriptor that it was written to, a terminal's to stdout", async () => {
  const { clock, cli, program, copied } = scene();
  program.writes("out");
  program.writes("err", "stderr");
  program.writes("screen", "pty");
  program.exits();
  program.writes(" late");
  program.tell({ type: "closed" } as Told);
  assert.equal(await copied, "closed");
  assert.deepEqual([cli.stdout.text, cli.stderr.text], ["outscreen late", "err"]);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("a slow reader slows the copying, also after the end, and loses nothing", async () => {
  const { clock, cli, program, copied } = scene();
  const reader = Promise.withResolvers<void>();
  program.exits();
  await settled();
  cli.stdout.blocked = reader.promise;
  program.writes("a");
  await settled();
  clock.advance(60_000);
  program.writes("b");
  program.tell({ type: "closed" } as Told);
  await settled();
  reader.resolve();
  assert.equal(await copied, "closed");
  assert.equal(cli.stdout.text, "ab");
});

Deno.test("before the end of the program silence means nothing", async () => {
  const { clock, program, copied } = scene();
  await settled();
  clock.advance(3_600_000);
  program.writes("still here");
  program.exits();
  program.tell({ type: "closed" } as Told);
  assert.equal(await copied, "closed");
});

Deno.test("after the end of the program 250 ms of silence end the copying, and nobody listens any more", async () => {
  const { clock, cli, program, copied } = scene();
  program.writes("own");
  program.exits();
  await settled();
  clock.advance(249);
  program.writes(" tail");
  await settled();
  clock.advance(249);
  await settled();
  assert.equal(program.left, false);
  clock.advance(1);
  assert.equal(await copied, "held");
  assert.equal(cli.stdout.text, "own tail");
  assert.ok(program.left);
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("a child that goes on writing a little is heard for 2 s", async () => {
  const { clock, cli, program, copied } = scene();
  program.exits();
  for (let i = 0; i < 100; i++) {
    await settled();
    clock.advance(100);
    program.writes(".");
  }
  assert.equal(await copied, "held");
  // The twentieth comes when the time is up.
  assert.equal(cli.stdout.text.length, 19);
});

Deno.test("a child that goes on writing much is heard for 1 MiB", async () => {
  const { cli, program, copied } = scene();
  program.exits();
  for (let i = 0; i < 100; i++) program.writes("x".repeat(64 * 1024));
  assert.equal(await copied, "held");
  assert.equal(cli.stdout.text.length, 1024 * 1024);
});

Deno.test("a failure of the stream is thrown after what came before it, also after the end of the program", async () => {
  const { cli, program, copied } = scene();
  program.writes("first");
  program.exits();
  await settled();
  program.fail(new Error("lost"));
  await assert.rejects(copied, { message: "lost" });
  assert.equal(cli.stdout.text, "first");
});

Deno.test("a reader that has gone is an error of its own", async () => {
  const { cli, program, copied } = scene();
  cli.stdout.isGone = true;
  program.writes("x");
  await assert.rejects(copied, { name: "ReaderGoneError" });
});
