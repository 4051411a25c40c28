/**
 * Base64 with the standard alphabet, mandatory padding, no white space and no stray bits: the only form on the wire.
 * The engine's own functions do the work where it has them whole (V8 before 13.8 does not), else Node's where those are.
 */

interface NativeEncoder {
  toBase64?(): string;
}
interface NativeDecoder {
  setFromBase64?(text: string, options: { lastChunkHandling: "strict" }): { read: number; written: number };
}

const hasNative = typeof (Uint8Array.prototype as NativeDecoder).setFromBase64 === "function" &&
  typeof (Uint8Array.prototype as NativeEncoder).toBase64 === "function" &&
  // V8 13.7, which has them on trial, encodes the beginning of the buffer whatever part of it is asked for.
  (new Uint8Array(2).fill(1, 1).subarray(1) as unknown as Required<NativeEncoder>).toBase64() === "AQ==";

/** What we use of Node's `Buffer`: a view of bytes. */
interface NodeBuffer {
  toString(encoding: "base64"): string;
  write(text: string, encoding: "base64"): number;
}
interface NodeBuffers {
  from(buffer: ArrayBufferLike, byteOffset: number, length: number): NodeBuffer;
}

/** Asked for only where it is needed: Deno has it too, and loads it when it is looked at. */
function nodeBuffers(): NodeBuffers | undefined {
  return (globalThis as { Buffer?: NodeBuffers }).Buffer;
}
const hasNodeBuffers = !hasNative && nodeBuffers() !== undefined;

export const encodeBase64: (bytes: Uint8Array) => string = hasNative
  ? (bytes) => (bytes as unknown as Required<NativeEncoder>).toBase64()
  : hasNodeBuffers
  ? encodeBase64WithNode
  : encodeBase64Portably;

/**
 * @param room Makes room for so many bytes.
 * @throws {Base64Error} With the reference's sentence.
 */
export function decodeBase64(text: string, room = fresh): Uint8Array<ArrayBuffer> {
  if (hasNative && text.length % 4 === 0) {
    const bytes = room(decodedLength(text));
    try {
      const { written } = (bytes as unknown as Required<NativeDecoder>).setFromBase64(text, STRICTLY);
      // The native decoder skips white space; a text that holds some has fewer bytes.
      if (written === bytes.length) return bytes;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  if (hasNodeBuffers) {
    const bytes = decodeBase64WithNode(text, room);
    if (bytes !== undefined) return bytes;
  }
  return decodeBase64Portably(text);
}

const STRICTLY = { lastChunkHandling: "strict" } as const;

/** @param text Of a length that four divides. */
function decodedLength(text: string): number {
  return text.length / 4 * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
}

function fresh(length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(length);
}

/** Why a text is not base64 that we accept. Offsets count UTF-8 bytes. */
export class Base64Error extends Error {
  override readonly name = "Base64Error";
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PAD = 0x3d;
const INVALID = 0xff;
const VALUES = new Uint8Array(256).fill(INVALID);
for (let value = 0; value < ALPHABET.length; value++) VALUES[ALPHABET.charCodeAt(value)] = value;

/** What {@linkcode decodeBase64} does without the engine's help, and how it finds out what is wrong. */
export function decodeBase64Portably(text: string): Uint8Array<ArrayBuffer> {
  const input = new TextEncoder().encode(text);
  const lastQuad = input.length === 0 ? 0 : Math.floor((input.length - 1) / 4) * 4;
  refuseTrailingByte(input);
  const output = new Uint8Array(Math.floor((input.length * 3) / 4));
  let length = 0;
  for (let at = 0; at < lastQuad; at += 4) {
    const bits = (symbol(input, at) << 18) | (symbol(input, at + 1) << 12) | (symbol(input, at + 2) << 6) |
      symbol(input, at + 3);
    output[length++] = bits >> 16;
    output[length++] = bits >> 8;
    output[length++] = bits;
  }
  const { bits, symbols } = lastSymbols(input, lastQuad);
  for (let byte = 0; byte < Math.floor((symbols * 6) / 8); byte++) output[length++] = bits >> (16 - 8 * byte);
  return output.subarray(0, length);
}

/** A lone invalid byte behind complete quads, such as a newline, is named before anything else. */
function refuseTrailingByte(input: Uint8Array): void {
  const last = input[input.length - 1] ?? PAD;
  if (input.length % 4 === 1 && last !== PAD && VALUES[last] === INVALID) throw invalidSymbol(last, input.length - 1);
}

function symbol(input: Uint8Array, at: number): number {
  const byte = input[at] ?? 0;
  const value = VALUES[byte] ?? INVALID;
  if (value === INVALID) throw invalidSymbol(byte, at);
  return value;
}

/** The last one to four bytes, which alone may hold padding; their symbols stand at the top of 24 bits. */
function lastSymbols(input: Uint8Array, start: number): { bits: number; symbols: number } {
  let bits = 0;
  let symbols = 0;
  let firstPad = -1;
  for (let at = start; at < input.length; at++) {
    if (input[at] === PAD) {
      if (at - start < 2) throw invalidSymbol(PAD, at);
      if (firstPad < 0) firstPad = at;
      continue;
    }
    if (firstPad >= 0) throw invalidSymbol(PAD, firstPad);
    bits |= symbol(input, at) << (18 - 6 * symbols++);
  }
  if (input.length > 0 && symbols < 2) throw new Base64Error(`Invalid input length: ${start + symbols}`);
  if ((input.length - start) % 4 !== 0) throw new Base64Error("Invalid padding");
  const wholeBytes = Math.floor((symbols * 6) / 8);
  if ((bits & (0xffffff >> (8 * wholeBytes))) !== 0) {
    const at = start + symbols - 1;
    throw new Base64Error(`Invalid last symbol ${input[at]}, offset ${at}.`);
  }
  return { bits, symbols };
}

function invalidSymbol(byte: number, offset: number): Base64Error {
  return new Base64Error(`Invalid symbol ${byte}, offset ${offset}.`);
}

/** What {@linkcode encodeBase64} does where Node's `Buffer` is all there is. */
export function encodeBase64WithNode({ buffer, byteOffset, length }: Uint8Array): string {
  return nodeBuffers()!.from(buffer, byteOffset, length).toString("base64");
}

/**
 * What {@linkcode decodeBase64} does where Node's `Buffer` is all there is. It takes whatever looks like base64, so the
 * way back has to give the same text (which costs half as much as a regular expression, measured).
 *
 * @returns Undefined if the text is not base64 that we accept.
 */
export function decodeBase64WithNode(text: string, room = fresh): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0) return undefined;
  const bytes = room(decodedLength(text));
  const view = nodeBuffers()!.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return view.write(text, "base64") === bytes.length && view.toString("base64") === text ? bytes : undefined;
}

/** What {@linkcode encodeBase64} does without the engine's help. */
export function encodeBase64Portably(bytes: Uint8Array): string {
  let binary = "";
  // Longer argument lists overflow the stack.
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}
