import assert from "node:assert/strict";
import { FirstProcess } from "../../lib/sandbox/first_process.ts";
import * as libc from "../../lib/linux/libc.ts";
import { Tenancies } from "../../lib/sandbox/tenancies.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** A process that is the first of a namespace, as long as it is not killed. */
class Inner implements Disposable {
  readonly #outer = new Deno.Command("unshare", {
    args: ["--user", "--pid", "--fork", "--kill-child", "sleep", "600"],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();

  async reported(): Promise<FirstProcess> {
    const children = `/proc/${this.#outer.pid}/task/${this.#outer.pid}/children`;
    let pid = "";
    while ((pid = Deno.readTextFileSync(children).trim()) === "") await new Promise((r) => setTimeout(r, 1));
    const first = new FirstProcess();
    libc.write(first.report, new TextEncoder().encode(`${pid}\n`));
    libc.close(first.report);
    return first;
  }

  async kill(): Promise<void> {
    this.#outer.kill("SIGKILL");
    await this.#outer.status;
  }

  [Symbol.dispose](): void {
    this.#outer.kill("SIGKILL");
  }
}

const ignore = Deno.build.os !== "linux" || !canUnshare();

function canUnshare(): boolean {
  try {
    const args = ["--user", "--pid", "--fork", "true"];
    return new Deno.Command("unshare", { args, stderr: "null" }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test({
  name: "Tenancies keep what a sandbox relies on until its first process has ended",
  ignore,
  fn: async () => {
    const inner = new Inner();
    const clock = new ManualClock();
    const tenancies = new Tenancies(clock);
    let isOver = false;
    const lease = { [Symbol.asyncDispose]: () => Promise.resolve(void (isOver = true)) };
    const ended = tenancies.begin(lease, await inner.reported())(true);
    for (let times = 0; times < 20; times++) {
      clock.advance(300);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assert.deepEqual([isOver, tenancies.size], [false, 1]);
    await inner.kill();
    while (!isOver) {
      clock.advance(300);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await ended;
    assert.equal(tenancies.size, 0);
  },
});

Deno.test({
  name: "Tenancies wait at the end for those that are being killed, and not for ever for others",
  ignore,
  fn: async () => {
    const inner = new Inner();
    const tenancies = new Tenancies(new ManualClock());
    const lease = { [Symbol.asyncDispose]: () => Promise.resolve() };
    tenancies.begin(lease, await inner.reported());
    assert.equal(tenancies.wait(), false);
    await inner.kill();
    assert.equal(tenancies.wait(), true);
    assert.equal(tenancies.size, 0);
  },
});
