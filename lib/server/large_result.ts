/**
 * A result of hundreds of megabytes, most of it kept as ASCII bytes: as a string it would be copied once more for each
 * piece of text that is put around it. Memory is given back as soon as it has been copied, not at some collection.
 */
export class LargeResult {
  readonly #before: string;
  #bytes: Uint8Array<ArrayBuffer> | undefined;
  readonly #after: string;

  /**
   * The JSON of the result, in three parts.
   *
   * @param bytes ASCII. Taken over: they are gone once they have been copied.
   */
  constructor(before: string, bytes: Uint8Array<ArrayBuffer>, after: string) {
    this.#before = before;
    this.#bytes = bytes;
    this.#after = after;
  }

  /** The whole message. To be called once. */
  between(before: string, after: string): string {
    if (this.#bytes === undefined) throw new Error("a large result was asked for twice");
    const head = new TextEncoder().encode(before + this.#before);
    const tail = new TextEncoder().encode(this.#after + after);
    const message = new Uint8Array(head.length + this.#bytes.length + tail.length);
    message.set(head);
    message.set(this.#bytes, head.length);
    message.set(tail, head.length + this.#bytes.length);
    this.#bytes.buffer.transfer(0);
    this.#bytes = undefined;
    const text = new TextDecoder().decode(message);
    message.buffer.transfer(0);
    return text;
  }
}
