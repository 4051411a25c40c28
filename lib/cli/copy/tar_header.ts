/**
 * One 512-byte header of a tar archive: ustar, as GNU and pax write it. Whatever one tar reads in one way and another tar
 * in another is refused: what we look at has to be what is unpacked.
 */

export const BLOCK_BYTES = 512;

const NAME = [0, 100], MODE = [100, 108], SIZE = [124, 136], CHECKSUM = [148, 156], LINK = [157, 257] as const;
const MAGIC = [257, 265], PREFIX = [345, 500] as const;
const TYPE_AT = 156;
/** Of POSIX, and of GNU's own format, which keeps times where the other has a prefix. */
const USTAR = "ustar\0", GNU = "ustar  \0";
const SPACE = 0x20;
/** Set-user-id and set-group-id. */
const SET_ID_BITS = 0o6000;

export interface TarHeader {
  /** One character; `0` for what old archives leave empty. */
  readonly type: string;
  /** Names are bytes: one character for each, 0 to 255. */
  readonly name: string;
  readonly linkName: string;
  readonly size: number;
}

/** The archive is not what we can pass on. */
export class TarError extends Error {
  override readonly name = "TarError";
}

/** @throws {TarError} If the block is no header. */
export function readHeader(block: Uint8Array): TarHeader {
  if (readNumber(block, CHECKSUM) !== checksum(block)) {
    throw new TarError("the archive is broken: a header does not add up");
  }
  const flag = String.fromCharCode(block[TYPE_AT]!);
  const magic = text(block, MAGIC);
  if (magic !== GNU && !magic.startsWith(USTAR)) throw new TarError("the archive is of a format that is not known");
  const prefix = magic === GNU ? "" : cString(block, PREFIX);
  const name = cString(block, NAME);
  return {
    type: flag === "\0" || flag === "7" ? "0" : flag,
    name: prefix === "" ? name : `${prefix}/${name}`,
    linkName: cString(block, LINK),
    size: readNumber(block, SIZE),
  };
}

/**
 * Takes away what would let a program run as another user: whoever made the archive need not be trusted with that.
 *
 * @param block Changed in place.
 */
export function withoutSetId(block: Uint8Array): void {
  const mode = readNumber(block, MODE);
  if ((mode & SET_ID_BITS) === 0) return;
  writeOctal(block, MODE, mode & ~SET_ID_BITS, 7);
  block.fill(SPACE, ...CHECKSUM as [number, number]);
  writeOctal(block, CHECKSUM, checksum(block), 6);
}

/** The records of a pax header: `LENGTH KEY=VALUE\n`, where the length counts all of the record's bytes. */
export function paxRecords(data: Uint8Array): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < data.length;) {
    const [digits = ""] = /^[1-9]\d{0,6}(?= )/.exec(byteString(data.subarray(at, at + 8))) ?? [];
    const end = at + Number(digits);
    const record = byteString(data.subarray(at + digits.length + 1, end));
    const equals = record.indexOf("=");
    if (end === at || end > data.length || !record.endsWith("\n") || equals < 1) {
      throw new TarError("the archive is broken: an extended header cannot be read");
    }
    records.set(record.slice(0, equals), record.slice(equals + 1, -1));
    at = end;
  }
  return records;
}

/** Octal digits, or big-endian bytes if the first has its highest bit set. */
function readNumber(block: Uint8Array, [start, end]: readonly number[]): number {
  const field = block.subarray(start, end);
  if (field[0] === 0x80) return field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
  const digits = /^ *([0-7]*)[ \0]*$/.exec(byteString(field))?.[1];
  if (digits === undefined) throw new TarError("the archive is broken: a number in a header cannot be read");
  return digits === "" ? 0 : parseInt(digits, 8);
}

function writeOctal(block: Uint8Array, [start]: readonly number[], value: number, digits: number): void {
  block.set(new TextEncoder().encode(value.toString(8).padStart(digits, "0") + "\0"), start);
}

/** The sum of all bytes, those of the sum itself taken for blanks. */
function checksum(block: Uint8Array): number {
  let sum = 0;
  for (const [i, byte] of block.entries()) sum += i >= CHECKSUM[0]! && i < CHECKSUM[1]! ? SPACE : byte;
  return sum;
}

/** A name up to the first NUL. */
export function cString(bytes: Uint8Array, [start, end]: readonly number[] = [0, bytes.length]): string {
  const field = bytes.subarray(start, end);
  const nul = field.indexOf(0);
  return byteString(nul < 0 ? field : field.subarray(0, nul));
}

/** A name for people. */
export function shownName(name: string): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(name, (char) => char.charCodeAt(0)));
}

function text(block: Uint8Array, [start, end]: readonly number[]): string {
  return byteString(block.subarray(start, end));
}

/** One character for each byte, so that other bytes are never the same text. */
function byteString(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
