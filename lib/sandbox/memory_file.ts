import { ExecError } from "../errors.ts";
import { cString } from "../linux/cstring.ts";
import { errnoText } from "../linux/errno.ts";
import * as libc from "../linux/libc.ts";

/**
 * A file in memory with these contents, to be read from its beginning by a program that is given the descriptor. It is
 * closed on exec unless it is handed over.
 *
 * @param name What /proc shows.
 * @returns The descriptor, which is the caller's to close.
 * @throws {ExecError} `sandboxUnavailable` if there is no descriptor or no memory left.
 */
export function memoryFile(name: string, contents: libc.Bytes): number {
  const fd = libc.memoryFile(cString(name));
  if (fd < 0) throw failure(name, -fd);
  for (let done = 0; done < contents.length;) {
    const written = libc.pwrite(fd, contents.subarray(done), done);
    if (written < 0) {
      libc.close(fd);
      throw failure(name, -written);
    }
    done += written;
  }
  return fd;
}

function failure(name: string, errno: number): ExecError {
  return new ExecError("sandboxUnavailable", `cannot keep the ${name} in memory: ${errnoText(errno)}`);
}
