import * as libc from "../../linux/libc.ts";
import { spawnError } from "./spawn_error.ts";

/** The pipes of a program that is about to be started. */
export interface Pipes {
  /** Our ends, non-blocking. */
  readonly ours: { readonly stdin: number | null; readonly stdout: number; readonly stderr: number };
  /** The program's ends: stdin if it is a pipe, stdout, stderr. Of no use to us once the program has them. */
  readonly theirs: readonly number[];
}

/** @throws {ExecError} `spawnFailed` if there are no descriptors left; nothing is left open. */
export function openPipes(withStdin: boolean): Pipes {
  const opened: number[] = [];
  const open = (): readonly [number, number] => {
    const ends = libc.pipe();
    if (typeof ends === "number") {
      for (const fd of opened) libc.close(fd);
      throw spawnError(-ends);
    }
    opened.push(...ends);
    return ends;
  };
  const stdin = withStdin ? open() : null;
  const stdout = open();
  const stderr = open();
  const ours = { stdin: stdin?.[1] ?? null, stdout: stdout[0], stderr: stderr[0] };
  for (const fd of Object.values(ours)) {
    if (fd !== null) libc.setNonBlocking(fd);
  }
  const theirs = [stdout[1], stderr[1]];
  return { ours, theirs: stdin === null ? theirs : [stdin[0], ...theirs] };
}
