/** Texts of which each character is one byte: heads are neither UTF-8 nor anything else that a decoder knows. */

/** How many bytes are converted at once; longer argument lists overflow the stack. */
const STEP = 8192;

/** Not `TextDecoder`: what the platform calls latin1 is windows-1252. */
export function bytesToText(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += STEP) text += String.fromCharCode(...bytes.subarray(at, at + STEP));
  return text;
}

/** @param text Without characters beyond U+00FF. */
export function textToBytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
