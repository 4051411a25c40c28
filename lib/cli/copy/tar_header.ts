/** One 512-byte header of a tar archive: ustar, as GNU and pax write it. */

export const BLOCK_BYTES = 512;

const NAME = [0, 100], MODE = [100, 108], SIZE = [124, 136], CHECKSUM = [148, 156], LINK = [157, 257] as const;
const MAGIC = [257, 265], PREFIX = [345, 500] as const;
const TYPE_AT = 156;
const SPACE = 0x20;
/** Set-user-id and set-group-id. */
const SET_ID_BITS = 0o6000;

export interface TarHeader {
  /** One character; `0` for what old archives leave empty. */
  readonly type: string;
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
  // GNU's own format keeps times where ustar has a prefix.
  const prefix = text(block, MAGIC).startsWith("ustar  ") ? "" : cString(block, PREFIX);
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
    const blank = data.indexOf(SPACE, at);
    const length = blank < 0 ? NaN : Number(utf8(data.subarray(at, blank)));
    const record = utf8(data.subarray(blank + 1, at + length - 1));
    const equals = record.indexOf("=");
    if (!(length > 0) || at + length > data.length || equals < 0) {
      throw new TarError("the archive is broken: an extended header cannot be read");
    }
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

/** Octal digits, or big-endian bytes if the first has its highest bit set. */
function readNumber(block: Uint8Array, [start, end]: readonly number[]): number {
  const field = block.subarray(start, end);
  if (field[0] === 0x80) return field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
  const digits = utf8(field).replaceAll("\0", " ").trim();
  if (!/^[0-7]*$/.test(digits)) throw new TarError("the archive is broken: a number in a header cannot be read");
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

/** Text up to the first NUL. */
export function cString(bytes: Uint8Array, [start, end]: readonly number[] = [0, bytes.length]): string {
  const field = bytes.subarray(start, end);
  const nul = field.indexOf(0);
  return utf8(nul < 0 ? field : field.subarray(0, nul));
}

function text(block: Uint8Array, [start, end]: readonly number[]): string {
  return utf8(block.subarray(start, end));
}

function utf8(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
