import { writeToStderr } from "./log.ts";

/** Writes what fits without waiting and returns how many bytes, which may be 0. */
export type WriteNow = (bytes: Uint8Array<ArrayBuffer>) => number;

/**
 * Where log lines go when nobody may be there to read them. Waiting for a reader would stop the whole server, which
 * could then not even be told to end. So as soon as there is a way to write without waiting, a line that does not fit
 * is dropped and counted, and the next one that does is preceded by the count.
 */
export class LogSink {
  readonly #writeLine: (line: string) => void;
  #writeNow: WriteNow | undefined;
  /** The end of the one line that has only been begun. */
  #rest = new Uint8Array(0);
  #dropped = 0;

  /** @param writeLine Writes, however long it takes: until there is something better, and where there is not. */
  constructor(writeLine: (line: string) => void = writeToStderr) {
    this.#writeLine = writeLine;
  }

  /** From now on nothing waits. */
  useNow(writeNow: WriteNow): void {
    this.#writeNow = writeNow;
  }

  /** Writes one line, newline included. */
  write(line: string): void {
    if (this.#writeNow === undefined) return this.#writeLine(line);
    if (this.#rest.length > 0) this.#rest = this.#rest.subarray(this.#writeNow(this.#rest));
    const bytes = new TextEncoder().encode(this.#notice() + line);
    const count = this.#rest.length > 0 ? 0 : this.#writeNow(bytes);
    if (count === 0) {
      this.#dropped++;
      return;
    }
    this.#dropped = 0;
    this.#rest = bytes.subarray(count);
  }

  #notice(): string {
    if (this.#dropped === 0) return "";
    return `${new Date().toISOString()} WARN log lines dropped because nobody read them count=${this.#dropped}\n`;
  }
}
