/** Keeps the processors busy for as long as a scope lasts, so that what is nearly always in time is late. */
export class CpuLoad implements AsyncDisposable {
  readonly #loops: Deno.ChildProcess[];

  /** @param perCore Busy loops for each processor. */
  constructor(perCore = 2) {
    const args = ["-c", "while :; do :; done"];
    const options: Deno.CommandOptions = { args, stdin: "null", stdout: "null", stderr: "null" };
    const count = navigator.hardwareConcurrency * perCore;
    this.#loops = Array.from({ length: count }, () => new Deno.Command("sh", options).spawn());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const loop of this.#loops) loop.kill("SIGKILL");
    await Promise.all(this.#loops.map((loop) => loop.status));
  }
}
