/** A text in quotes with its oddities escaped, as texts for people show a path. */
export function debugText(text: string): string {
  // deno-lint-ignore no-control-regex
  const escaped = text.replace(/[\0-\x1f\x7f"\\]/g, (character) => {
    return SHORT[character] ?? `\\u{${character.charCodeAt(0).toString(16)}}`;
  });
  return `"${escaped}"`;
}

const SHORT: Readonly<Record<string, string>> = {
  "\0": "\\0",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};
