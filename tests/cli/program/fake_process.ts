import type { ClientError } from "../../../lib/client/client_error.ts";
import type { ExecProcess, ProcessEvent, ProcessExit, ProcessStreamName } from "../../../lib/client/process.ts";

/** A program whose events come when the test says so, and that remembers what was done to it. */
export class FakeProcess implements Pick<ExecProcess, "id" | "exited"> {
  readonly id = "p";
  /** What was done, in order: `write x`, `closeStdin`, `SIGINT`, `SIGTERM`, `SIGKILL`, `resize 1x2`. */
  readonly done: string[] = [];
  /** What everything that is done to it fails with. */
  refusal: ClientError | undefined;
  /** Whether nobody listens any more. */
  left = false;
  readonly #exit = Promise.withResolvers<ProcessExit>();
  readonly #events: ProcessEvent[] = [];
  #seq = 0;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor() {
    this.#exit.promise.catch(() => {}); // whoever waits hears of it
  }

  get exited(): Promise<ProcessExit> {
    return this.#exit.promise;
  }

  /** As what a command takes for a process. */
  get asProcess(): ExecProcess {
    return this as unknown as ExecProcess;
  }

  /** Events that nobody has taken yet. */
  get untold(): number {
    return this.#events.length;
  }

  writes(text: string, stream: ProcessStreamName = "stdout"): void {
    this.#tell({ type: "output", seq: ++this.#seq, stream, bytes: new TextEncoder().encode(text) });
  }

  /** The next number is higher than it should be: something is not there any more. */
  skips(): void {
    this.#seq++;
  }

  exits(exit: Partial<ProcessExit> = {}): void {
    const whole: ProcessExit = { code: 0, signal: null, reason: "exited", sandboxDenied: false, ...exit };
    this.#exit.resolve(whole);
    this.#tell({ type: "exited", seq: ++this.#seq, code: whole.code, sandboxDenied: false });
  }

  closes(): void {
    this.#tell({ type: "closed", seq: ++this.#seq });
  }

  fail(error: Error): void {
    this.#failure = error;
    this.#exit.reject(error);
    this.#wake?.();
  }

  write(data: string | Uint8Array): Promise<void> {
    return this.#do(`write ${typeof data === "string" ? data : new TextDecoder().decode(data)}`);
  }

  closeStdin(): Promise<void> {
    return this.#do("closeStdin");
  }

  interrupt(): Promise<void> {
    return this.#do("SIGINT");
  }

  signal(name: string): Promise<void> {
    return this.#do(name);
  }

  async terminate(): Promise<boolean> {
    await this.#do("SIGKILL");
    return true;
  }

  resize({ rows, columns }: { rows: number; columns: number }): Promise<void> {
    return this.#do(`resize ${rows}x${columns}`);
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

  #tell(event: ProcessEvent): void {
    this.#events.push(event);
    this.#wake?.();
  }

  // deno-lint-ignore require-await -- a refusal is a rejection
  async #do(what: string): Promise<void> {
    this.done.push(what);
    if (this.refusal !== undefined) throw this.refusal;
  }
}

/** Lets everything happen that needs no event of the system. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}
