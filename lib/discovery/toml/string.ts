/** Strings and keys, each in the first form that says it without escapes; if none does, with them. */

// deno-lint-ignore no-control-regex
const NEEDS_ESCAPE = /[\0-\x08\x0b-\x1f\x7f]/;

/** How many of that character stand side by side at most. */
function longestRun(text: string, character: string): number {
  let longest = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at)) {
    const start = at;
    while (text[at] === character) at++;
    longest = Math.max(longest, at - start);
  }
  return longest;
}

export function stringText(text: string): string {
  const lines = text.includes("\n");
  const controls = NEEDS_ESCAPE.test(text);
  const backslash = text.includes("\\");
  const doubles = longestRun(text, '"');
  const singles = longestRun(text, "'");
  const first = lines ? "\n" : "";
  if (!controls && !backslash && doubles === 0 && !lines) return `"${escaped(text)}"`;
  if (!controls && singles === 0 && !lines) return `'${text}'`;
  if (!controls && !backslash && doubles <= 2) return `"""${first}${escaped(text)}"""`;
  if (!controls && singles <= 2) return `'''${first}${text}'''`;
  return lines ? `"""\n${escaped(text)}"""` : `"${escaped(text)}"`;
}

export function keyText(text: string): string {
  if (/^[\w-]+$/.test(text)) return text;
  const plain = !NEEDS_ESCAPE.test(text) && !text.includes("\n");
  if (plain && !text.includes("\\") && !text.includes('"')) return `"${escaped(text)}"`;
  if (plain && !text.includes("'")) return `'${text}'`;
  return `"${escaped(text, true)}"`;
}

const SHORT: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};

/** @param all False: a line feed stands for itself, and of quotes that stand side by side each third is escaped. */
function escaped(text: string, all = false): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\0-\x1f\x7f\\]|"+/g, (found) => {
    if (found === "\n" && !all) return found;
    if (found.startsWith('"') && !all) return found.replaceAll('"""', '""\\"');
    if (found.startsWith('"')) return '\\"'.repeat(found.length);
    return SHORT[found] ?? `\\u${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  });
}
