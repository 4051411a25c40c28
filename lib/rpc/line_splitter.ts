const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
/** Unicode's white space, where JavaScript has the byte order mark instead of the next-line character. */
const NOT_BLANK = /[^\s\x85]|\ufeff/;
/** The buffer for lines that came in pieces; it grows with the line and is given back when it has grown past this. */
const USUAL_BYTES = 64 * 1024;

/** A line that ends the conversation; the message says why. */
export class BadLine extends Error {
  override readonly name = "BadLine";
}

/**
 * Cuts a stream of bytes into lines of text. Looks at every byte once, however the stream was cut into chunks.
 *
 * A newline ends a line and is not part of it, nor is a carriage return before it. Blank lines, by the white space of
 * Unicode, are left out.
 */
export class LineSplitter {
  readonly #limitBytes: number;
  /** UTF-8 or nothing, and a byte order mark is a character like any other. */
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** The first `#heldBytes` are the beginning of a line whose newline has not come. */
  #held = new Uint8Array(USUAL_BYTES);
  #heldBytes = 0;

  /** @param limitBytes Most bytes of one line, without its ending: hardly more is held. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /**
   * The lines that `chunk` completes. The chunk may be reused once all of them have been taken.
   *
   * @throws {BadLine} In its turn, at a line that is too long or not UTF-8.
   */
  *push(chunk: Uint8Array<ArrayBuffer>): Generator<string, void> {
    let from = 0;
    for (let end: number; (end = chunk.indexOf(NEWLINE, from)) >= 0; from = end + 1) {
      const line = this.#complete(chunk.subarray(from, end));
      if (line !== "") yield line;
    }
    this.#hold(chunk.subarray(from));
  }

  /**
   * What stands after the last newline, once the stream has ended.
   *
   * @throws {BadLine} Like {@linkcode push}.
   */
  *end(): Generator<string, void> {
    const line = this.#complete(new Uint8Array());
    if (line !== "") yield line;
  }

  /** The text of the line that ends with `last`, empty for a blank one. */
  #complete(last: Uint8Array<ArrayBuffer>): string {
    if (this.#heldBytes === 0) {
      this.#requireRoom(last);
      return this.#decode(last);
    }
    this.#hold(last);
    const line = this.#decode(this.#held.subarray(0, this.#heldBytes));
    this.#heldBytes = 0;
    if (this.#held.length > USUAL_BYTES) this.#held = new Uint8Array(USUAL_BYTES);
    return line;
  }

  #hold(bytes: Uint8Array<ArrayBuffer>): void {
    this.#requireRoom(bytes);
    const needed = this.#heldBytes + bytes.length;
    if (needed > this.#held.length) {
      const grown = new Uint8Array(Math.max(needed, this.#held.length * 2));
      grown.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = grown;
    }
    this.#held.set(bytes, this.#heldBytes);
    this.#heldBytes = needed;
  }

  /** Throws if the line would be too long with `bytes` behind what is held. */
  #requireRoom(bytes: Uint8Array): void {
    const length = this.#heldBytes + bytes.length;
    const last = bytes.length > 0 ? bytes.at(-1) : this.#held[this.#heldBytes - 1];
    // What looks like the carriage return of a line's ending is not counted.
    const ending = last === CARRIAGE_RETURN ? 1 : 0;
    if (length - ending > this.#limitBytes) throw new BadLine(`a line of more than ${this.#limitBytes} bytes`);
  }

  #decode(bytes: Uint8Array<ArrayBuffer>): string {
    const length = bytes.length - (bytes.at(-1) === CARRIAGE_RETURN ? 1 : 0);
    try {
      const line = this.#decoder.decode(bytes.subarray(0, length));
      return NOT_BLANK.test(line) ? line : "";
    } catch (error) {
      throw new BadLine("a line that is not UTF-8", { cause: error });
    }
  }
}
