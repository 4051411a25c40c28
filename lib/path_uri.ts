/** `file:` URI ⇄ the bytes of a path, which need not be UTF-8. */

import { ExecError } from "./errors.ts";
import { normalized } from "./native_path.ts";
import { OPERATING_SYSTEM } from "./operating_system.ts";
import { urlDefect } from "./url_defect.ts";

/** What texts call this system. */
function systemName(os: string): string {
  return os === "darwin" ? "macos" : os;
}

/** A drive as first segment, `C:`; its colon may be percent-encoded, its letter may not. */
const DRIVE = /^\/[a-z](?::|%3a)(?=\/|$)/i;

/** URIs that are their own normal form, so that the URL parser (a microsecond) has nothing to do; … */
const PLAIN = /^file:\/\/(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'()*+,;=@-]+)+$/;
/** … of at most so many characters, about as many as the system takes: with millions of names the engine gives up. */
const MAX_PLAIN_LENGTH = 4096;

/**
 * A parsed path parameter. It may name a path that this machine cannot have: that is found out when it is used.
 */
export class PathUri {
  /** The normal form, as refusals show it: what the URL parser made of the text, a drive letter of this machine in upper case. */
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  /**
   * @throws {ExecError} `invalidParams` if the text is no `file:` URI, has a query or a fragment, or encodes a NUL.
   */
  static parse(text: string, os = OPERATING_SYSTEM): PathUri {
    if (text.length <= MAX_PLAIN_LENGTH && PLAIN.test(text)) return new PathUri(text);
    let url: URL;
    try {
      url = new URL(text);
    } catch {
      throw new ExecError("invalidParams", `invalid URI: ${urlDefect(text)}`);
    }
    if (url.protocol !== "file:") {
      throw new ExecError("invalidParams", `unsupported path URI scheme \`${url.protocol.slice(0, -1)}\``);
    }
    // An empty query or fragment is visible only in the serialised form, where neither can be anything else.
    const mark = /[?#]/.exec(url.href)?.[0];
    if (mark === "?") throw new ExecError("invalidParams", "query parameters are not allowed in path URIs");
    if (mark === "#") throw new ExecError("invalidParams", "fragments are not allowed in path URIs");
    if (url.pathname.includes("%00")) throw new ExecError("invalidParams", invalidHere(url.href, os));
    if (url.host !== "") return new PathUri(`file://${url.host}${url.pathname}`);
    const upper = (drive: string) => `/${drive.charAt(1).toUpperCase()}${drive.slice(2)}`;
    return new PathUri(`file://${url.pathname.replace(DRIVE, upper)}`);
  }

  /** The URI of an absolute path of this machine. A text stands for its UTF-8 bytes. */
  static fromNative(path: Uint8Array | string, os = OPERATING_SYSTEM): string {
    if (typeof path === "string" && os !== "windows" && !NEEDS_ENCODING.test(path)) return `file://${path}`;
    const bytes = typeof path === "string" ? new TextEncoder().encode(path) : path;
    if (os !== "windows") return `file://${percentEncode(bytes)}`;
    const slashed = bytes.map((byte) => byte === BACKSLASH ? SLASH : byte);
    const share = slashed[0] === SLASH && slashed[1] === SLASH;
    return share ? `file:${percentEncode(slashed)}` : `file:///${percentEncode(slashed)}`;
  }

  /**
   * The path on this machine: bytes without a NUL, and without empty components, `.` and `..`: those that an encoded
   * slash sets off are resolved like the URL's own, before any link is looked at.
   *
   * @throws {ExecError} `invalidRequest` if this system has no such paths: a foreign host or, but for Windows, a drive.
   */
  toNative(os = OPERATING_SYSTEM): Uint8Array<ArrayBuffer> {
    const pathStart = this.text.indexOf("/", "file://".length);
    const host = this.text.slice("file://".length, pathStart);
    const path = this.text.slice(pathStart);
    const isDrive = DRIVE.test(path);
    if (os === "windows" ? host === "" && !isDrive : host !== "" || isDrive) {
      throw new ExecError("invalidRequest", invalidHere(this.text, os));
    }
    if (os !== "windows") return normalized(percentDecode(path));
    const native = percentDecode(host === "" ? path.slice(1) : `//${host}${path}`);
    return native.map((byte) => byte === SLASH ? BACKSLASH : byte);
  }
}

function invalidHere(uri: string, os: string): string {
  return `'${uri}' is invalid on '${systemName(os)}'`;
}

const SLASH = 0x2f, BACKSLASH = 0x5c, PERCENT = 0x25;

/** Bytes that leave as `%XX`, besides controls and everything beyond ASCII. */
const ENCODED = new Set(new TextEncoder().encode(' "#%<>?`{}\\'));
const NEEDS_ENCODING = /[^\x21\x24\x26-\x3b\x3d\x40-\x5b\x5d-\x5f\x61-\x7a\x7c\x7e]/;

function percentEncode(bytes: Uint8Array): string {
  const text = new TextDecoder("latin1").decode(bytes);
  if (!NEEDS_ENCODING.test(text)) return text;
  let encoded = "";
  for (const byte of bytes) {
    encoded += byte <= 0x1f || byte >= 0x7f || ENCODED.has(byte)
      ? `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
      : String.fromCharCode(byte);
  }
  return encoded;
}

/** Bytes that are no valid escape stand for themselves. */
function percentDecode(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  if (!text.includes("%")) return bytes;
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at] as number;
    if (byte === PERCENT) {
      const value = hexValue(bytes[at + 1]) * 16 + hexValue(bytes[at + 2]);
      if (!Number.isNaN(value)) {
        byte = value;
        at += 2;
      }
    }
    bytes[length++] = byte;
  }
  return bytes.slice(0, length);
}

function hexValue(digit: number | undefined): number {
  if (digit === undefined) return NaN;
  if (digit >= 0x30 && digit <= 0x39) return digit - 0x30;
  const letter = digit | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NaN;
}
