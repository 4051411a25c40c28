/** How the bytes of a file became no text, in the words of the wire. */

/**
 * The text of UTF-8 bytes, a byte order mark included.
 *
 * @returns The text, or why there is none.
 */
export function decodeUtf8(bytes: Uint8Array): { readonly text: string } | { readonly defect: string } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { defect: utf8Defect(bytes) };
  }
}

/** Where the first sequence stands that is no UTF-8, and how long it is; only of such bytes. */
function utf8Defect(bytes: Uint8Array): string {
  const start = validLength(bytes);
  const length = brokenLength(bytes, start);
  return length === undefined
    ? `incomplete utf-8 byte sequence from index ${start}`
    : `invalid utf-8 sequence of ${length} bytes from index ${start}`;
}

/** How many bytes at the beginning are whole characters. */
function validLength(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes[at] as number);
    if (length === 0 || continued(bytes, at) < length) return at;
    at += length;
  }
  return at;
}

/** Undefined: the bytes end before it is decided. */
function brokenLength(bytes: Uint8Array, start: number): number | undefined {
  if (sequenceLength(bytes[start] as number) === 0) return 1;
  const good = continued(bytes, start);
  return start + good === bytes.length ? undefined : good;
}

function sequenceLength(first: number): number {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/** How many bytes from there on belong together, at most a whole sequence. */
function continued(bytes: Uint8Array, start: number): number {
  const first = bytes[start] as number;
  const length = sequenceLength(first);
  // The second byte decides whether the sequence is overlong, a surrogate or beyond the last character.
  let lowest = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  let highest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  for (let good = 1; good < length; good++) {
    const byte = bytes[start + good];
    if (byte === undefined || byte < lowest || byte > highest) return good;
    lowest = 0x80;
    highest = 0xbf;
  }
  return length;
}
