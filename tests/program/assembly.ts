/** Puts together what one process said from notifications and reads, across disconnections, and checks every byte. */
import type { Members } from "../support/wire_client.ts";

/** The byte that belongs at an offset of a program's output. */
export type Expectation = (offset: number) => number;

export class Assembly {
  /** Number of the newest event up to which nothing is missing. */
  seq = 0;
  /** Bytes up to there. */
  bytes = 0;
  exitCode: number | null = null;
  closed = false;
  /** Called after each event that was new. */
  onProgress: () => void = () => {};
  /** Events whose predecessors have not come yet; null is one without bytes. */
  readonly #early = new Map<number, Uint8Array | null>();
  /** The newest number that the present connection has brought by itself. */
  #live = 0;

  constructor(readonly expected: Expectation) {}

  /** A new connection brings every event once more at most. */
  reconnected(): void {
    this.#live = 0;
  }

  /** @throws {Error} If the wire's order or a byte is wrong. */
  hear(method: string, params: Members): void {
    const seq = params["seq"] as number;
    if (seq <= this.#live) throw new Error(`${method}: number ${seq} after ${this.#live} on one connection`);
    this.#live = seq;
    if (method === "process/exited") this.exitCode = params["exitCode"] as number;
    if (method === "process/closed") this.closed = true;
    this.#add(seq, method === "process/output" ? Uint8Array.fromBase64(params["chunk"] as string) : null);
  }

  /** Takes in the chunks of one `process/read`; returns how many there were. */
  read(result: { chunks: { seq: number; chunk: string }[] }): number {
    for (const { seq, chunk } of result.chunks) this.#add(seq, Uint8Array.fromBase64(chunk));
    return result.chunks.length;
  }

  /**
   * Takes in what an unbounded `process/read` from here tells: numbers that neither it nor a notification has brought
   * are the exit and the close, which a read shows only as the state of the process.
   *
   * @throws {Error} If more numbers are missing than that.
   */
  caughtUp(state: { exited: boolean; exitCode: number | null; closed: boolean; nextSeq: number }): void {
    let unheard = (state.exited && this.exitCode === null ? 1 : 0) + (state.closed && !this.closed ? 1 : 0);
    while (this.seq < state.nextSeq - 1) {
      if (--unheard < 0) throw new Error(`a gap after number ${this.seq}`);
      this.#add(this.seq + 1, null);
    }
    this.exitCode ??= state.exitCode;
    this.closed ||= state.closed;
  }

  /** Numbers that wait for their predecessors: what is not empty after a catch-up is a gap. */
  get waiting(): number[] {
    return [...this.#early.keys()];
  }

  /** Accepts a gap: goes on with the oldest event that is waiting, wherever it stands in the output. */
  skipGap(): void {
    this.seq = Math.min(...this.waiting) - 1;
    this.#settle();
  }

  #add(seq: number, bytes: Uint8Array | null): void {
    if (seq <= this.seq) return;
    const known = this.#early.get(seq);
    if (known !== undefined && known?.toHex() !== bytes?.toHex()) throw new Error(`number ${seq} says two things`);
    this.#early.set(seq, bytes);
    this.#settle();
    this.onProgress();
  }

  #settle(): void {
    for (let bytes; (bytes = this.#early.get(this.seq + 1)) !== undefined;) {
      this.#early.delete(++this.seq);
      if (bytes !== null) this.#compare(bytes);
    }
  }

  #compare(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (byte !== this.expected(this.bytes)) {
        throw new Error(`byte ${this.bytes}, in number ${this.seq}, is ${byte} and not ${this.expected(this.bytes)}`);
      }
      this.bytes++;
    }
  }
}
