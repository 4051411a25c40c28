import { encodeBase64 } from "../base64.ts";

/**
 * The `authorization` that stands for user and password of a URL; undefined if it has neither, or if what they encode is
 * no text.
 */
export function basicCredentials(url: URL): string | undefined {
  if (url.username === "" && url.password === "") return undefined;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    const [user, password] = [url.username, url.password].map((part) => decoder.decode(percentDecoded(part)));
    return `Basic ${encodeBase64(new TextEncoder().encode(`${user}:${password}`))}`;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** `decodeURIComponent` refuses a `%` that begins no triplet; here it stands for itself. */
function percentDecoded(text: string): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const triplet = /^%([0-9a-f]{2})/i.exec(text.slice(at, at + 3));
    bytes.push(triplet === null ? text.charCodeAt(at) : parseInt(triplet[1]!, 16));
    if (triplet !== null) at += 2;
  }
  return Uint8Array.from(bytes);
}
