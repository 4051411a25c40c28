/**
 * A result of hundreds of megabytes, kept as the ASCII bytes of its JSON: as a string it would be copied once more for
 * each piece of text that is put around it. Memory is given back as soon as it has been copied, not at some collection.
 */
export class LargeResult {
  #json: Uint8Array<ArrayBuffer> | undefined;

  /** @param json ASCII; taken over, and empty afterwards. */
  constructor(json: Uint8Array<ArrayBuffer>) {
    this.#json = json;
  }

  /** The whole message, `before` and `after` being ASCII as well. To be called once. */
  between(before: string, after: string): string {
    if (this.#json === undefined) throw new Error("a large result was asked for twice");
    const message = new Uint8Array(before.length + this.#json.length + after.length);
    const encoder = new TextEncoder();
    encoder.encodeInto(before, message);
    message.set(this.#json, before.length);
    encoder.encodeInto(after, message.subarray(before.length + this.#json.length));
    this.#json.buffer.transfer(0);
    this.#json = undefined;
    const text = new TextDecoder().decode(message);
    message.buffer.transfer(0);
    return text;
  }
}
