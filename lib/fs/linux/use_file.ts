import { close } from "../../linux/libc.ts";
import type { MaybePromise } from "../operations.ts";
import { closeFile } from "./close_file.ts";
import { regularFileSize } from "./file_kind.ts";

/**
 * Works on an open file and closes it: at once, or when the work has settled.
 *
 * @param fd Belongs to this function from here on.
 * @param written How many bytes may be written.
 * @param work Is given the size of the file, null if it is no regular one.
 * @throws What the work throws, and what the system says.
 */
export function useFile<T>(
  fd: number,
  written: number,
  work: (size: number | null) => MaybePromise<T>,
): MaybePromise<T> {
  let size: number | null = null;
  let result: MaybePromise<T> | undefined;
  try {
    size = regularFileSize(fd);
    result = work(size);
  } finally {
    if (!(result instanceof Promise)) close(fd);
  }
  return result instanceof Promise ? result.finally(() => closeFile(fd, Math.max(size ?? 0, written))) : result;
}
