import { isObject } from "./match.ts";
import { show, TimingMismatch } from "./mismatch.ts";
import type { ProcessEvents } from "./process_events.ts";
import type { SendLine } from "./lines.ts";

type Message = Readonly<Record<string, unknown>>;

/**
 * Numbers in the first read of a process after its connection was cut. A client asks for what comes after the last
 * event that it got; where the server cut the output into other pieces than the recorded one, that is another number,
 * and so are those in the answer.
 */
export class Renumbering {
  readonly #left = new Map<string, { readonly recorded: ProcessEvents; readonly received: ProcessEvents }>();
  #shift = 0;

  /** Remembers what a connection has brought of a process. */
  leave(processId: string, recorded: ProcessEvents, received: ProcessEvents): void {
    this.#left.set(processId, { recorded, received });
  }

  /**
   * What to send.
   *
   * @throws {TimingMismatch} If no piece that was received ends where the recorded one ends.
   */
  request(line: SendLine): SendLine {
    if (!isObject(line.msg) || line.msg["method"] !== "process/read" || !isObject(line.msg["params"])) return line;
    this.#shift = 0;
    const { processId, afterSeq } = line.msg["params"];
    const left = this.#left.get(String(processId));
    if (left === undefined || typeof afterSeq !== "number") return line;
    const seq = left.received.counterpart(left.recorded, afterSeq);
    if (seq === null) throw new TimingMismatch(`no output ends at ${afterSeq}: ${left.received.cut()}`);
    this.#shift = seq - afterSeq;
    return { ...line, msg: { ...line.msg, params: { ...line.msg["params"], afterSeq: seq } } };
  }

  /** What to expect. */
  reply(expected: Message): Message {
    const result = expected["result"];
    if (this.#shift === 0 || !isObject(result) || typeof result["nextSeq"] !== "number") return expected;
    const chunks = result["chunks"];
    if (!Array.isArray(chunks)) throw new Error(`cannot expect ${show(expected)}`);
    const shifted = chunks.map((chunk: { seq: number }) => ({ ...chunk, seq: chunk.seq + this.#shift }));
    return { ...expected, result: { ...result, nextSeq: result["nextSeq"] + this.#shift, chunks: shifted } };
  }
}
