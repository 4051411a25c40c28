import type { OutputLog } from "./output_log.ts";

/** 128 + SIGSYS: what a shell reports of a program that a system call filter killed. */
const KILLED_BY_FILTER_EXIT_CODE = 159;

/** What programs print when something forbade them to do what they wanted; the case of the letters has no meaning. */
const DENIAL =
  /operation not permitted|permission denied|read-only file system|seccomp|sandbox|landlock|failed to write file/i;

/**
 * Guesses whether a program failed because its sandbox denied it something, from its exit code and from the output that
 * is retained when it exits: each stream for itself, and all together in the order it came (so that a phrase which is
 * split between streams counts). Output that has been evicted, or that comes after the exit, does not count.
 */
export function looksDenied(exitCode: number, output: OutputLog): boolean {
  if (exitCode === 0) return false;
  if (exitCode === KILLED_BY_FILTER_EXIT_CODE) return true;
  // Byte for byte: every phrase is ASCII, and what is not UTF-8 must not hide one.
  const decoder = new TextDecoder("latin1");
  const streams = [undefined, "stdout", "stderr"] as const;
  return streams.some((stream) => DENIAL.test(decoder.decode(output.contents(stream))));
}
