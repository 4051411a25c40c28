import * as libc from "../../../lib/linux/libc.ts";
import { FirstProcess } from "../../../lib/sandbox/first_process.ts";
import { isAlive } from "../../support/linux.ts";

/** A process that is the first of a namespace, as long as it is not killed. */
export class Inner implements AsyncDisposable {
  readonly #outer = new Deno.Command("unshare", {
    args: ["--user", "--pid", "--fork", "--kill-child", "sleep", "600"],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();

  #pid = 0;

  async reported(): Promise<FirstProcess> {
    const children = `/proc/${this.#outer.pid}/task/${this.#outer.pid}/children`;
    while ((this.#pid = Number(Deno.readTextFileSync(children))) === 0) await new Promise((r) => setTimeout(r, 1));
    return reporting(`${this.#pid}\n`);
  }

  /** Once it has been reported. */
  isAlive(): boolean {
    return isAlive(this.#pid);
  }

  /** Ends with it. */
  get outerEnded(): Promise<Deno.CommandStatus> {
    return this.#outer.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#pid === 0 || this.isAlive()) this.#outer.kill("SIGKILL");
    await this.#outer.status;
  }
}

/** One that has said this of itself. */
export function reporting(text: string): FirstProcess {
  const first = new FirstProcess();
  libc.write(first.report, new TextEncoder().encode(text));
  libc.close(first.report);
  return first;
}

export function canUnshare(): boolean {
  try {
    const args = ["--user", "--pid", "--fork", "true"];
    return new Deno.Command("unshare", { args, stderr: "null" }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
