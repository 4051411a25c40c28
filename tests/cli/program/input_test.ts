import assert from "node:assert/strict";
import { passInput } from "../../../lib/cli/program/input.ts";
import { FakeInput } from "../fake_cli.ts";

/** Somebody who takes pieces when the test lets them. */
class SlowTaker {
  readonly taken: string[] = [];
  readonly #waiting: (() => void)[] = [];

  write(data: string | Uint8Array): Promise<void> {
    this.taken.push(typeof data === "string" ? data : new TextDecoder().decode(data));
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Lets one piece be taken, once it is there. */
  async release(): Promise<void> {
    while (this.#waiting.length === 0) await Promise.resolve();
    this.#waiting.shift()!();
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

Deno.test("passInput() passes on pieces as they come, in order, to the end", async () => {
  const input = new FakeInput();
  const taken: string[] = [];
  const done = passInput(() => input.read(), {
    write: (data) => {
      taken.push(new TextDecoder().decode(data as Uint8Array));
      return Promise.resolve();
    },
  });
  input.give("a");
  await settled();
  assert.deepEqual(taken, ["a"]);
  input.give("b\n");
  input.give(null);
  assert.equal(await done, 10);
  assert.deepEqual(taken, ["a", "b\n"]);
});

Deno.test("passInput() of nothing writes nothing", async () => {
  const input = new FakeInput();
  input.give(null);
  assert.equal(await passInput(() => input.read(), new SlowTaker()), undefined);
});

Deno.test("passInput() sends together what came while a piece was on its way", async () => {
  const input = new FakeInput();
  const taker = new SlowTaker();
  const done = passInput(() => input.read(), taker);
  for (const text of ["a", "b", "c"]) input.give(text);
  await settled();
  assert.deepEqual(taker.taken, ["a"]);
  input.give(null);
  await taker.release();
  assert.deepEqual(taker.taken, ["a", "bc"]);
  await taker.release();
  assert.equal(await done, "c".charCodeAt(0));
});

Deno.test("passInput() stops reading when 64 KiB wait for the program", async () => {
  const input = new FakeInput();
  const taker = new SlowTaker();
  void passInput(() => input.read(), taker);
  for (let i = 0; i < 20; i++) input.give("x".repeat(16 * 1024));
  await settled();
  // One piece on its way, four that wait, and one that has been asked for.
  assert.equal(input.reads, 6);
  await taker.release();
  assert.deepEqual(taker.taken.map((text) => text.length), [16 * 1024, 64 * 1024]);
});

Deno.test("passInput() fails when the program takes no more, and when reading fails", async () => {
  const input = new FakeInput();
  input.give("x");
  const refusal = new Error("no more");
  await assert.rejects(passInput(() => input.read(), { write: () => Promise.reject(refusal) }), refusal);
  await assert.rejects(passInput(() => Promise.reject(refusal), new SlowTaker()), refusal);
});
