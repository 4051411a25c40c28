import { MAX_LINE_LENGTH } from "./limits.ts";

/**
 * A stream of UTF-8 as text, in pieces that never begin or end within a character. What is not UTF-8 becomes U+FFFD.
 * Leaving the iteration cancels the stream.
 */
export async function* textOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let ended = false;
  try {
    for (let result = await reader.read(); !result.done; result = await reader.read()) {
      const text = decoder.decode(result.value, { stream: true });
      if (text !== "") yield text;
    }
    ended = true;
    const rest = decoder.decode();
    if (rest !== "") yield rest;
  } finally {
    // A stream that has failed says so again here; its reader has been told.
    if (!ended) await reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}

/**
 * The same in lines, without their ends (`\n` or `\r\n`). The last one need not have an end.
 *
 * @param maxLength Most UTF-16 code units of a line.
 * @throws {RangeError} A line is longer; it is not cut, because nothing would tell a piece from a line.
 */
export async function* linesOf(
  stream: ReadableStream<Uint8Array>,
  maxLength = MAX_LINE_LENGTH,
): AsyncGenerator<string, void, void> {
  let pieces: string[] = [];
  let length = 0;
  const add = (piece: string): void => {
    if (piece === "") return;
    pieces.push(piece);
    length += piece.length;
    // One more for a carriage return that may turn out to be part of the end.
    if (length > maxLength + 1) throw tooLong(maxLength);
  };
  const take = (): string => {
    const line = pieces.join("");
    pieces = [];
    length = 0;
    return line;
  };
  for await (const text of textOf(stream)) {
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      add(text.slice(start, end));
      const line = take();
      start = end + 1;
      yield checked(line.endsWith("\r") ? line.slice(0, -1) : line, maxLength);
    }
    add(text.slice(start));
  }
  if (length > 0) yield checked(take(), maxLength);
}

function checked(line: string, maxLength: number): string {
  if (line.length > maxLength) throw tooLong(maxLength);
  return line;
}

function tooLong(maxLength: number): RangeError {
  return new RangeError(`a line of output is longer than ${maxLength} characters`);
}
