import type { ProcessCore } from "./core.ts";

/** Tells the server whether to hold one program, as far as it can; the last wish wins. */
export class OutputHold {
  readonly #core: ProcessCore;
  readonly #processId: string;
  #wanted = false;
  /** What the server knows of the wish, on this connection. */
  #told = false;
  #telling = false;

  constructor(core: ProcessCore, processId: string) {
    this.#core = core;
    this.#processId = processId;
  }

  set(on: boolean): void {
    this.#wanted = on;
    void this.#tell();
  }

  /** A server lets programs run on when their connection ends: the wish is told again. */
  reconnected(): void {
    this.#told = false;
    void this.#tell();
  }

  async #tell(): Promise<void> {
    if (this.#telling) return;
    this.#telling = true;
    try {
      if (this.#told === this.#wanted || !await this.#core.hasExtensions()) return;
      while (this.#told !== this.#wanted) {
        const hold = this.#wanted;
        const params = { processId: this.#processId, hold };
        await this.#core.callUntilAnswered("execServer/process/holdOutput", params);
        this.#told = hold;
      }
    } catch (error) {
      if (this.#core.failure !== undefined) return;
      // The program runs on: readers that cannot follow are told so when they lose output.
      this.#core.log.warn("a program could not be held", { process: this.#processId, error: String(error) });
    } finally {
      this.#telling = false;
    }
  }
}
