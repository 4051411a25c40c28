/** Strings and keys, each in the first form that says it without escapes; if none does, with them. */

// deno-lint-ignore no-control-regex
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f]/;

export function stringText(text: string): string {
  const lines = text.includes("\n");
  const literal = !UNPRINTABLE.test(text);
  const basic = literal && !text.includes("\\");
  if (basic && !lines && !text.includes('"')) return basicText(text);
  if (literal && !lines && !text.includes("'")) return `'${text}'`;
  if (basic && !text.includes('"""')) return multilineText(text);
  if (literal && !text.includes("'''")) return `'''${lines ? "\n" : ""}${text}'''`;
  return lines ? multilineText(text) : basicText(text);
}

export function keyText(text: string): string {
  if (/^[\w-]+$/.test(text)) return text;
  const literal = !UNPRINTABLE.test(text) && !text.includes("\n");
  return literal && /["\\]/.test(text) && !text.includes("'") ? `'${text}'` : basicText(text);
}

function basicText(text: string): string {
  // deno-lint-ignore no-control-regex
  return `"${text.replace(/[\0-\x1f\x7f"\\]/g, escape)}"`;
}

/** Line feeds stand for themselves, and of quotes side by side each third is escaped. */
function multilineText(text: string): string {
  // deno-lint-ignore no-control-regex
  const escaped = text.replace(/[\0-\x09\x0b-\x1f\x7f\\]/g, escape).replaceAll('"""', '""\\"');
  return `"""${text.includes("\n") ? "\n" : ""}${escaped}"""`;
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

function escape(character: string): string {
  return SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}
