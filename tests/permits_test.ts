import assert from "node:assert/strict";
import { Permits } from "../lib/permits.ts";
import { idle } from "./support/scripted_server.ts";

/** Work that lasts until the test says so. */
class Work {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, PromiseWithResolvers<string>>();

  begin(name: string): Promise<string> {
    this.begun.push(name);
    const end = Promise.withResolvers<string>();
    this.#ends.set(name, end);
    return end.promise;
  }

  end(name: string): void {
    this.#ends.get(name)!.resolve(name);
  }

  fail(name: string): void {
    this.#ends.get(name)!.reject(new Error(name));
  }
}

Deno.test("Permits let so many work at once, and the others in the order in which they came", async () => {
  const permits = new Permits(2);
  const work = new Work();
  const done = ["a", "b", "c", "d"].map((name) => permits.during(() => work.begin(name)));
  await idle();
  assert.deepEqual(work.begun, ["a", "b"]);
  work.end("b");
  assert.equal(await done[1], "b");
  await idle();
  assert.deepEqual(work.begun, ["a", "b", "c"]);
  work.fail("a");
  await assert.rejects(done[0]!, { message: "a" });
  await idle();
  assert.deepEqual(work.begun, ["a", "b", "c", "d"]);
  for (const name of ["c", "d"]) work.end(name);
  await Promise.all(done.slice(2));
  for (const name of ["e", "f", "g"]) void permits.during(() => work.begin(name));
  assert.deepEqual(work.begun.slice(4), ["e", "f"]);
});

Deno.test("Permits are not lost on whoever gives up while waiting, even when the turn has just come", async () => {
  const permits = new Permits(1);
  const work = new Work();
  const first = permits.during(() => work.begin("first"));
  const early = new AbortController();
  const late = new AbortController();
  const waiting = [early, late].map(({ signal }) => permits.during(() => work.begin("aborted"), signal));
  const failed = waiting.map((promise) => assert.rejects(promise, { message: "enough" }));
  const last = permits.during(() => work.begin("last"));
  early.abort(new Error("enough"));
  work.end("first");
  late.abort(new Error("enough"));
  await Promise.all([first, ...failed]);
  await idle();
  assert.deepEqual(work.begun, ["first", "last"]);
  work.end("last");
  assert.equal(await last, "last");
});

Deno.test("Permits begin nothing for who has given up already, and keep their number", async () => {
  const permits = new Permits(1);
  const signal = AbortSignal.abort(new Error("enough"));
  const work = new Work();
  await assert.rejects(permits.during(() => work.begin("aborted"), signal), { message: "enough" });
  void permits.during(() => work.begin("next"));
  assert.deepEqual(work.begun, ["next"]);
});
