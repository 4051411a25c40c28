import type { ByteReader } from "../../../lib/relay/credentials/stdin_lines.ts";
import { StdinLines } from "../../../lib/relay/credentials/stdin_lines.ts";

/** Standard input as a test writes it. */
export class Stdin implements ByteReader {
  readonly lines: StdinLines = new StdinLines(this);
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  #closed = false;
  #failure: Error | undefined;
  #waiting: (() => void) | undefined;

  /** @param text What is there already. */
  constructor(text = "") {
    if (text !== "") this.write(text);
  }

  write(text: string | Uint8Array<ArrayBuffer>): void {
    this.#chunks.push(typeof text === "string" ? new TextEncoder().encode(text) : text);
    this.#waiting?.();
  }

  close(): void {
    this.#closed = true;
    this.#waiting?.();
  }

  fail(error: Error): void {
    this.#failure = error;
    this.#waiting?.();
  }

  async read(buffer: Uint8Array<ArrayBuffer>): Promise<number | null> {
    while (true) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        const part = chunk.subarray(0, buffer.length);
        buffer.set(part);
        if (part.length < chunk.length) this.#chunks.unshift(chunk.subarray(part.length));
        return part.length;
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#closed) return null;
      await new Promise<void>((resolve) => this.#waiting = resolve);
    }
  }
}

/** Standard input that holds a text and has ended. */
export function closedStdin(text: string): Stdin {
  const stdin = new Stdin(text);
  stdin.close();
  return stdin;
}
