const NEWLINE = 10;
/** The system's pipes hold 64 KiB; a line of a credential is shorter. */
const CHUNK_BYTES = 64 * 1024;

/** What standard input is read with, e.g. `Deno.stdin`: fills the buffer or a part of it; null is the end. */
export interface ByteReader {
  read(buffer: Uint8Array<ArrayBuffer>): Promise<number | null>;
}

/** What was found where a line was expected. */
export type Line =
  /** Without its newline. The bytes belong to the caller. */
  | { readonly kind: "line"; readonly bytes: Uint8Array<ArrayBuffer> }
  /** More bytes than allowed and no newline among them; none of it is kept, and nothing more should be read. */
  | { readonly kind: "too long" }
  /** The end came. `unfinished`: there were bytes, but no newline. */
  | { readonly kind: "end"; readonly unfinished: boolean };

/** Reads standard input line by line and holds no more of it than one line and one chunk. One reader at a time. */
export class StdinLines {
  readonly #reader: ByteReader;
  #chunk: Uint8Array<ArrayBuffer> = new Uint8Array();

  constructor(reader: ByteReader) {
    this.#reader = reader;
  }

  /**
   * The next line.
   *
   * @param limitBytes Most bytes of it, newline not counted.
   * @throws {Error} What the system says if standard input cannot be read.
   */
  async next(limitBytes: number): Promise<Line> {
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let held = 0;
    while (true) {
      const end = this.#chunk.indexOf(NEWLINE);
      const piece = end < 0 ? this.#chunk : this.#chunk.subarray(0, end);
      this.#chunk = this.#chunk.subarray(end < 0 ? piece.length : end + 1);
      held += piece.length;
      if (held > limitBytes) return { kind: "too long" };
      if (piece.length > 0) pieces.push(piece);
      if (end >= 0) return { kind: "line", bytes: joined(pieces, held) };
      if (!await this.#fill()) return { kind: "end", unfinished: held > 0 };
    }
  }

  /** Resolves at the end of standard input; what comes until then is thrown away. Rejects if it cannot be read. */
  async ended(): Promise<void> {
    do this.#chunk = new Uint8Array(); while (await this.#fill());
  }

  /** False: the end. */
  async #fill(): Promise<boolean> {
    const buffer = new Uint8Array(CHUNK_BYTES);
    const count = await this.#reader.read(buffer);
    this.#chunk = buffer.subarray(0, count ?? 0);
    return count !== null;
  }
}

function joined(pieces: readonly Uint8Array<ArrayBuffer>[], bytes: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
