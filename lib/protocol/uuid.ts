import { type Codec, refusal, string } from "../codec.ts";

/** A UUID in any form that the reference takes: hyphenated, bare, in braces or as a URN; kept as it was written. */
export const uuid: Codec<string> = {
  decode(json, buffered) {
    const text = string.decode(json, buffered);
    if (!VALID.test(text)) throw refusal(defect(text));
    return text;
  },
  encode: (value) => value,
};

const HEX = "[0-9a-fA-F]";
const HYPHENATED = `${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`;
const VALID = new RegExp(`^(?:${HEX}{32}|${HYPHENATED}|\\{${HYPHENATED}\\}|urn:uuid:${HYPHENATED})$`);

const GROUP_LENGTHS = [8, 4, 4, 4];
/** Where the last group of the hyphenated form starts. */
const LAST_GROUP_START = 24;

/** Places and lengths count bytes, from where the reference's parser took up the text. */
function defect(text: string): string {
  const whole = utf8Length(text) === 38 && /^\{.*\}$/s.test(text)
    ? text.slice(1, -1)
    : utf8Length(text) === 45 && text.startsWith("urn:uuid:")
    ? text.slice("urn:uuid:".length)
    : text;
  const [, prefix = "", digits = ""] = /^(urn:uuid:)(.*)$/s.exec(whole) ?? /^(\{)(.*)\}$/s.exec(whole) ??
    ["", "", whole];
  const stranger = /[^0-9a-fA-F-]/u.exec(digits);
  if (stranger !== null) {
    const place = utf8Length(prefix + digits.slice(0, stranger.index)) + 1;
    return "invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], " +
      `found \`${stranger[0]}\` at ${place}`;
  }
  const groups = digits.split("-");
  if (groups.length === 1 && prefix === "") {
    return `invalid length: expected length 32 for simple format, found ${whole.length}`;
  }
  if (groups.length !== 5) return `invalid group count: expected 5, found ${groups.length}`;
  for (const [place, length] of GROUP_LENGTHS.entries()) {
    const found = groups[place]?.length;
    if (found !== length) return `invalid group length in group ${place}: expected ${length}, found ${found}`;
  }
  return `invalid group length in group 4: expected 12, found ${whole.length - LAST_GROUP_START}`;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
