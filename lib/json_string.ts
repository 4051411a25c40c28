/** What is wrong with a JSON string: the slow, careful second look at one that the parser could not read. */

/** A reason, and how far the reference's parser has read when it gives it. */
export interface StringDefect {
  readonly reason: string;
  /** Index of a character of the text… */
  readonly at: number;
  /** …and how many UTF-8 bytes behind it have been read as well. */
  readonly bytes: number;
}

/**
 * @param start Index of the first character behind the opening quote.
 */
export function stringDefect(text: string, start: number): StringDefect {
  const end: StringDefect = { reason: "EOF while parsing a string", at: text.length, bytes: 0 };
  for (let at = start; at < text.length; at++) {
    if (text.charCodeAt(at) < 0x20) {
      return { reason: "control character (\\u0000-\\u001F) found while parsing a string", at, bytes: 1 };
    }
    if (text[at] !== "\\") continue;
    const kind = text[++at];
    if (kind === undefined) return end;
    if (!'"\\/bfnrtu'.includes(kind)) return { reason: "invalid escape", at, bytes: 1 };
    if (kind !== "u") continue;
    const unit = hexUnit(text, at + 1);
    if (typeof unit !== "number") return unit ?? end;
    at += 4;
    if (isTrailing(unit)) return loneSurrogate(at);
    if (!isLeading(unit)) continue;
    for (const wanted of "\\u") {
      const found = text[++at];
      if (found === undefined) return end;
      if (found !== wanted) return { reason: "unexpected end of hex escape", at, bytes: 1 };
    }
    const second = hexUnit(text, at + 1);
    if (typeof second !== "number") return second ?? end;
    at += 4;
    if (!isTrailing(second)) return loneSurrogate(at);
  }
  return end;
}

function isLeading(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isTrailing(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function loneSurrogate(at: number): StringDefect {
  return { reason: "lone leading surrogate in hex escape", at, bytes: 1 };
}

/** The unit of four digits. The reference takes four bytes, whatever they are; undefined: there are not as many. */
function hexUnit(text: string, start: number): number | StringDefect | undefined {
  const digits = text.slice(start, start + 4);
  if (/^[0-9a-f]{4}$/i.test(digits)) return parseInt(digits, 16);
  if (new TextEncoder().encode(digits).length < 4) return undefined;
  return { reason: "invalid escape", at: start, bytes: 4 };
}
