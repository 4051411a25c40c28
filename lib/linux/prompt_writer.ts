import { cString } from "./cstring.ts";
import { type Bytes, close, O_CLOEXEC, O_NONBLOCK, O_WRONLY, open, write } from "./libc.ts";

/** Writes to a pipe in the calling thread, and never waits. */
export interface PromptWriter extends Disposable {
  /** Writes what the pipe has room for and returns how much: 0 also if nothing can be written at all. */
  writeNow(bytes: Bytes): number;
}

/**
 * A prompt way into the pipe behind a descriptor, besides the descriptor itself. It opens the pipe a second time: to make
 * the descriptor itself non-blocking would do so for everyone who shares it.
 *
 * @returns undefined if the descriptor is no pipe: a file opened again would be written from its beginning, and a socket
 * cannot be opened again.
 */
export function promptWriter(fd: number): PromptWriter | undefined {
  const path = `/proc/self/fd/${fd}`;
  try {
    if (!Deno.statSync(path).isFifo) return undefined;
  } catch (error) {
    // No such descriptor, or no /proc: then there is no prompt way.
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  const again = open(cString(path), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (again < 0) return undefined;
  return {
    // Whoever gets 0 goes the other way, and meets there what is wrong.
    writeNow: (bytes) => Math.max(0, write(again, bytes)),
    [Symbol.dispose]: () => close(again),
  };
}
