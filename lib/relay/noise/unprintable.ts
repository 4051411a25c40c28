/**
 * What holds a secret, in private fields: neither printing it nor making JSON of it shows more than what it is, not even
 * where an inspector looks behind getters.
 */
export abstract class Unprintable {
  toJSON(): string {
    return `[${this.constructor.name}]`;
  }

  toString(): string {
    return this.toJSON();
  }

  /** What Node, Deno and Bun print of it. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toJSON();
  }
}
