import { Mismatch, show } from "./mismatch.ts";

const MEMBERS = "deltaBase64,done,error,requestId,seq";

/** The pieces of one streamed body, recorded or received. */
export class BodyDeltas {
  readonly #pieces: Uint8Array[] = [];
  #seq = 0;
  #size = 0;
  done = false;
  error: unknown = null;

  /**
   * Takes one notification.
   *
   * @throws {Mismatch} If it has not the members that it must have, or is not the next one of its stream.
   */
  accept(message: Readonly<Record<string, unknown>>): void {
    const params = message["params"] as Readonly<Record<string, unknown>>;
    const wellFormed = Object.keys(params).sort().join() === MEMBERS &&
      Object.keys(message).sort().join() === "method,params";
    if (!wellFormed) throw new Mismatch(`malformed notification ${show(message)}`);
    const { seq, deltaBase64, done, error } = params;
    if (this.done) throw new Mismatch(`a delta after the last one: ${show(message)}`);
    if (seq !== ++this.#seq) throw new Mismatch(`expected delta ${this.#seq}, got ${show(message)}`);
    const piece = Uint8Array.fromBase64(String(deltaBase64));
    const last = done === true && piece.length === 0 && (error === null || typeof error === "string");
    const further = done === false && piece.length > 0 && error === null;
    if (!last && !further) throw new Mismatch(`neither a piece nor the last delta: ${show(message)}`);
    this.#pieces.push(piece);
    this.#size += piece.length;
    this.done = last;
    this.error = error;
  }

  /** True when these, the received ones, hold at least what is recorded, so that a comparison makes sense. */
  covers(recorded: BodyDeltas): boolean {
    return this.#size >= recorded.#size && (this.done || !recorded.done);
  }

  /** Compares the received ones with what is recorded; how the body is cut does not matter. @throws {Mismatch} */
  compare(recorded: BodyDeltas): void {
    const [expected, got] = [recorded.#summary(), this.#summary()];
    if (expected !== got) throw new Mismatch(`expected the body ${expected}, got ${got}`);
  }

  #summary(): string {
    const body = new Uint8Array(this.#size);
    let at = 0;
    for (const piece of this.#pieces) {
      body.set(piece, at);
      at += piece.length;
    }
    return show({ body: body.toBase64(), done: this.done, error: this.error });
  }
}
