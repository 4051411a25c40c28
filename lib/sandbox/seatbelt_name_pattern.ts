/** Names that macOS takes for the same, as a pattern that its policies compare real paths with. */

import { fromText, parent, toText } from "./byte_path.ts";
import type { BytePath } from "./policy.ts";

/**
 * Matches the path and what lies below it in whichever case the last name is written, since on most volumes of macOS
 * `.GIT` is `.git`: what does not exist has no spelling of its own, and gets the one that its maker chose.
 *
 * @param path Its directory exists and is spelled as it really is.
 * @returns Bytes, an extended regular expression.
 */
export function anyCasePattern(path: BytePath): string {
  const directory = parent(path);
  const name = toText(path.slice(path.lastIndexOf("/") + 1));
  const folded = Array.from(name.normalize("NFC"), (character) => fromText(alternatives(character))).join("");
  return `^${directory === "/" ? "" : quoted(directory)}/${folded}(/.*)?$`;
}

/** Letters that stand for one of ASCII where case does not count: long s, and the sign of kelvin. */
const ODD_LETTERS: Readonly<Record<string, string>> = { s: "\u017f", k: "\u212a" };

/** All ways to write one character, composed or not. */
function alternatives(character: string): string {
  const lower = character.toLowerCase();
  const cases = [character, lower, character.toUpperCase(), ODD_LETTERS[lower] ?? character];
  const forms = [...new Set(cases.flatMap((one) => [one.normalize("NFC"), one.normalize("NFD"), one]))];
  return forms.length === 1 ? quoted(character) : `(${forms.map(quoted).join("|")})`;
}

/** What stands for itself in an extended regular expression. */
function quoted(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}
