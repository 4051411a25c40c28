/** How deeply a document may nest. The parser has no limit of its own, and recurses. Source of both numbers: the reference. */
const MAX_BRACKETS = 80;
const MAX_KEY_NAMES = 80;

/** Strings and comments as a whole, line feeds, and what nests; a string without an end goes no further than its line. */
const TOKENS =
  /"""(?:[^\\"]|\\[^]|"(?!""))*"""|'''(?:[^']|'(?!''))*'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[\]{}.,=\n]/g;

/**
 * Where a document goes deeper than that, as an offset (for keys the reference names the beginning of the document);
 * undefined if it does not.
 *
 * @returns What is beyond there may be anything: it need not be looked at.
 */
export function tooDeepAt(text: string): { readonly offset: number; readonly reason: string } | undefined {
  let depth = 0;
  let names = 1;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === ".") {
      if (++names > MAX_KEY_NAMES) return { offset: 0, reason: "recursion limit" };
      continue;
    }
    if (/^[[\]{},=\n]$/.test(token)) names = 1;
    if (token === "[" || token === "{") {
      if (++depth > MAX_BRACKETS) return { offset: index, reason: "cannot recurse further; max recursion depth met" };
    } else if (token === "]" || token === "}") depth--;
  }
  return undefined;
}
