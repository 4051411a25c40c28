/** Strings on their way out of a message, and into one. */

/**
 * A copy that shares no memory with the text it was cut from. An engine keeps a long message alive for the sake of one
 * short piece of it (measured: 2000 ids of 128 KB messages held 266 MB); what is remembered beyond the request is
 * therefore copied. Joining and cutting makes the engine lay out a new string.
 */
export function copyString(text: string): string {
  return ` ${text}`.slice(1);
}

/**
 * `JSON.stringify` whose result every strict parser takes: a lone surrogate, which it would write as an escape that
 * strict parsers refuse, leaves as U+FFFD.
 *
 * @throws {TypeError} If `value` is undefined or a function, which JSON cannot say.
 */
export function toWellFormedJson(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`${typeof value} cannot be written as JSON`);
  if (!text.includes("\\ud")) return text;
  // Escapes are taken one by one, so that an escaped backslash before a "ud800" is not mistaken for one.
  return text.replaceAll(/\\(u[0-9a-f]{4}|.)/g, (escape, kind: string) => /^ud[89a-f]/.test(kind) ? "\ufffd" : escape);
}
