/** What becomes of a document that the reference buffers before it decodes it: numbers are typed without being wanted. */

import { ExecError } from "./errors.ts";
import { type Json, JsonNumber, type JsonObject } from "./json.ts";

/**
 * The whole document with its numbers typed.
 *
 * @throws {ExecError} `invalidParams` if it holds an integer that only a 128-bit type would take.
 */
export function buffer(json: Json): Json {
  if (json instanceof JsonNumber) {
    const typed = typedNumber(json);
    if (typeof typed === "string") {
      throw new ExecError("invalidParams", `invalid type: ${typed}, expected any value`);
    }
    return typed;
  }
  if (json instanceof Map) {
    return new Map([...json as JsonObject].map(([key, member]) => [key, buffer(member)] as const));
  }
  return Array.isArray(json) ? json.map(buffer) : json;
}

/** A number that no type of the reference's holds exactly is kept as its text, in an object under this name. */
const UNTYPED = "$serde_json::private::Number";

/** What is longer no type holds; it is not converted, which takes seconds for millions of digits. */
const MAX_I128_LENGTH = 40;

/** The number, if a 64-bit type holds it; a description, if only a 128-bit one does; else an object with its text. */
export function typedNumber(number: JsonNumber): JsonNumber | JsonObject | string {
  const { text } = number;
  if (text.length <= MAX_I128_LENGTH && /^-?\d+$/.test(text)) {
    const value = BigInt(text);
    if (value >= -(2n ** 63n) && value < 2n ** 64n) return number;
    if (value >= 0n && value < 2n ** 128n) return `integer \`${value}\` as u128`;
    if (value < 0n && value >= -(2n ** 127n)) return `integer \`${value}\` as i128`;
  } else {
    const shortest = String(Number(text)).replace("e+", "e");
    if (text === shortest || text === `${shortest}.0`) return number;
  }
  return new Map([[UNTYPED, text]]);
}
