/** Programs of a few instructions that make 32-bit system calls (`int 0x80`), which no interpreter of 64 bits can. */

/** Where the file is mapped: below 4 GiB, so that the same code runs in both modes. */
const BASE = 0x400000;

/** Either kind of program: one of 32 bits, or one of 64 that calls as one of 32 would. */
export type Bits = 32 | 64;

/** Appends a text to a file: open, write, exit. */
export function appendProgram(bits: Bits, path: string, text: string): Uint8Array<ArrayBuffer> {
  return program(bits, [path + "\0", text], (at) => [
    ...[...move("eax", 5), ...move("ebx", at[0]!), ...move("ecx", 0x401), ...move("edx", 0), ...INT_80],
    ...[...EBX_FROM_EAX, ...move("eax", 4), ...move("ecx", at[1]!), ...move("edx", text.length), ...INT_80],
  ]);
}

/** Sends a text to a port of the loopback: socket, sendto, exit. */
export function datagramProgram(bits: Bits, port: number, text: string): Uint8Array<ArrayBuffer> {
  const address = String.fromCharCode(2, 0, port >> 8, port & 0xff, 127, 0, 0, 1) + "\0".repeat(8);
  return program(bits, [address, text], (at) => [
    ...[...move("eax", 359), ...move("ebx", 2), ...move("ecx", 2), ...move("edx", 0), ...INT_80],
    ...[...EBX_FROM_EAX, ...move("eax", 369), ...move("ecx", at[1]!), ...move("edx", text.length)],
    ...[...move("esi", 0), ...move("edi", at[0]!), ...move("ebp", address.length), ...INT_80],
  ]);
}

const INT_80 = [0xcd, 0x80];
const EBX_FROM_EAX = [0x89, 0xc3];
const OPCODES = { eax: 0xb8, ecx: 0xb9, edx: 0xba, ebx: 0xbb, ebp: 0xbd, esi: 0xbe, edi: 0xbf };

function move(register: keyof typeof OPCODES, value: number): number[] {
  return [OPCODES[register], value & 0xff, value >> 8 & 0xff, value >> 16 & 0xff, value >>> 24];
}

/** @param code Is given the addresses of the texts; all its instructions have lengths that do not depend on them. */
function program(bits: Bits, texts: string[], code: (at: number[]) => number[]): Uint8Array<ArrayBuffer> {
  const exit = [...move("eax", 1), ...move("ebx", 0), ...INT_80];
  const [headerBytes, entryBytes] = bits === 32 ? [52, 32] : [64, 56];
  const start = headerBytes + entryBytes;
  let next = start + code(texts.map(() => 0)).length + exit.length;
  const at = texts.map((text) => BASE + (next += text.length) - text.length);
  const body = [...code(at), ...exit, ...texts.flatMap((text) => [...text].map((letter) => letter.charCodeAt(0)))];
  const bytes = new Uint8Array(start + body.length);
  const view = new DataView(bytes.buffer);
  const word = (offset: number, value: number) =>
    bits === 32 ? view.setUint32(offset, value, true) : view.setBigUint64(offset, BigInt(value), true);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, bits === 32 ? 1 : 2, 1, 1]);
  view.setUint16(16, 2, true); // an executable
  view.setUint16(18, bits === 32 ? 3 : 62, true); // i386, x86_64
  view.setUint32(20, 1, true);
  word(24, BASE + start);
  word(bits === 32 ? 28 : 32, headerBytes);
  const sizes = bits === 32 ? 40 : 52;
  view.setUint16(sizes, headerBytes, true);
  view.setUint16(sizes + 2, entryBytes, true);
  view.setUint16(sizes + 4, 1, true);
  // One segment, the whole file, to be read and executed.
  view.setUint32(headerBytes, 1, true);
  view.setUint32(headerBytes + (bits === 32 ? 24 : 4), 5, true);
  const fields = bits === 32 ? [8, 12, 16, 20, 28] : [16, 24, 32, 40, 48];
  [BASE, BASE, bytes.length, bytes.length, 0x1000].forEach((value, index) => word(headerBytes + fields[index]!, value));
  bytes.set(body, start);
  return bytes;
}
