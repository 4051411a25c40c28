import { cString } from "../../linux/cstring.ts";
import { ESRCH } from "../../linux/errno.ts";
import * as files from "../../linux/file_calls.ts";
import * as libc from "../../linux/libc.ts";
import { systemCallNumber } from "../syscall_numbers.ts";
import { type Attempt, PROBE_TEXT } from "./attempt.ts";

/** Makes the attempts, one after the other, and goes on whatever happens. */
export function probe(attempts: readonly Attempt[]): number[] {
  return attempts.map((attempt) => Math.max(0, -attemptOne(attempt)));
}

function attemptOne(attempt: Attempt): number {
  switch (attempt.do) {
    case "write":
      return withFile(
        attempt.path,
        libc.O_WRONLY | files.O_CREAT,
        (file) => libc.write(file, new TextEncoder().encode(PROBE_TEXT)),
      );
    case "read":
      return withFile(attempt.path, libc.O_RDONLY, (file) => libc.read(file, new Uint8Array(1)));
    case "makeDirectory":
      return files.makeDirectoryAt(files.AT_FDCWD, cString(attempt.path), 0o755);
    case "changeMode":
      return withFile(attempt.path, libc.O_RDONLY, (file) => files.changeMode(file, 0o666));
    case "socket": {
      const socket = systemCall("socket", BigInt(attempt.family), BigInt(attempt.type));
      if (socket >= 0) libc.close(socket);
      return socket;
    }
    case "signal":
      return libc.probeProcess(attempt.pid);
    case "joinProcesses":
      return isIn(attempt.namespace) ? 0 : -ESRCH;
    case "ioUring":
      // Without its parameters: EFAULT where it would be allowed.
      return systemCall("io_uring_setup", 1n, 0n);
  }
}

function systemCall(name: "socket" | "io_uring_setup", first: bigint, second: bigint): number {
  const number = BigInt(systemCallNumber(Deno.build.arch, name));
  return libc.orErrorFromLong(libc.symbols.syscall(number, first, second, 0n, 0n));
}

function isIn(namespace: string): boolean {
  const buffer: libc.Bytes = new Uint8Array(64);
  const length = files.readLinkAt(files.AT_FDCWD, cString("/proc/self/ns/pid"), buffer);
  return length >= 0 && new TextDecoder().decode(buffer.subarray(0, length)) === namespace;
}

function withFile(path: string, flags: number, act: (file: number) => number): number {
  const file = files.openAt(files.AT_FDCWD, cString(path), flags | libc.O_CLOEXEC, 0o644);
  if (file < 0) return file;
  const result = act(file);
  libc.close(file);
  return result;
}
