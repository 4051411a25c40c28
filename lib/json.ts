/**
 * JSON as the wire needs it: numbers keep their text, objects keep the order of their members and refuse a repeated
 * key, and depth and size are bounded. `JSON.parse` does none of the three.
 */

/** A number as it was written; the decoder that wants one says which form it accepts. */
export class JsonNumber {
  constructor(readonly text: string) {}
}

/** Members in the order in which they were sent; a Map, so that `__proto__` is a name like any other. */
export type JsonObject = ReadonlyMap<string, Json>;
export type Json = null | boolean | string | JsonNumber | readonly Json[] | JsonObject;
