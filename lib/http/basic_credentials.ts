import { encodeBase64 } from "../base64.ts";
import { textToBytes } from "./bytes.ts";

/**
 * The `authorization` that stands for user and password of a URL; undefined if it has neither, or if what they encode is
 * no text.
 */
export function basicCredentials(url: URL): string | undefined {
  if (url.username === "" && url.password === "") return undefined;
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    return basic(url.username, url.password, decoder);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The same for a user and a password in percent-encoding; `decoder` says what becomes of bytes that are no text. */
export function basic(user: string, password: string, decoder: TextDecoder): string {
  const [plainUser, plainPassword] = [user, password].map((part) => decoder.decode(percentDecoded(part)));
  return `Basic ${encodeBase64(new TextEncoder().encode(`${plainUser}:${plainPassword}`))}`;
}

/** `decodeURIComponent` refuses a `%` that begins no triplet; here it stands for itself. */
function percentDecoded(ascii: string): Uint8Array<ArrayBuffer> {
  const byte = (_: string, hex: string) => String.fromCharCode(parseInt(hex, 16));
  return textToBytes(ascii.replaceAll(/%([0-9a-f]{2})/gi, byte));
}
