/** Strings on their way out of a message, and into one. */

/**
 * A copy that shares no memory with the text it was cut from. An engine keeps a long message alive for the sake of one
 * short piece of it (measured: 2000 ids of 128 KB messages held 266 MB); what is remembered beyond the request is
 * therefore copied. Joining and cutting makes the engine lay out a new string.
 */
export function copyString(text: string): string {
  return ` ${text}`.slice(1);
}

/** `JSON.rawJSON`, where the engine has it; the type library does not know it yet. */
const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };

/** What {@linkcode toWellFormedJson} writes as this integer, all digits of it. */
export function exactInteger(value: bigint): unknown {
  if (rawJSON !== undefined) return rawJSON(String(value));
  return value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER ? Number(value) : value;
}

/**
 * `JSON.stringify` whose result every strict parser takes: a lone surrogate, which it would write as an escape that
 * strict parsers refuse, leaves as U+FFFD. A `bigint` leaves with all its digits.
 *
 * @throws {TypeError} If `value` is undefined or a function, which JSON cannot say.
 */
export function toWellFormedJson(value: unknown): string {
  const text = stringify(value);
  if (text === undefined) throw new TypeError(`${typeof value} cannot be written as JSON`);
  if (!text.includes("\\ud")) return text;
  // Escapes are taken one by one, so that an escaped backslash before a "ud800" is not mistaken for one.
  return text.replaceAll(/\\(u[0-9a-f]{4}|.)/g, (escape, kind: string) => /^ud[89a-f]/.test(kind) ? "\ufffd" : escape);
}

function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // A `bigint`, which is rare, or a circle, which fails here again.
    if (error instanceof TypeError) return stringifyBigInts(value);
    throw error;
  }
}

/** Writes each `bigint` as a string with a mark that no other string can have, and then takes quotes and mark off. */
function stringifyBigInts(value: unknown): string | undefined {
  const mark = crypto.randomUUID();
  const text = JSON.stringify(value, (_key, member) => typeof member === "bigint" ? mark + member : member);
  return text?.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}
