import { ExecError, type ExecErrorKind } from "../../errors.ts";

/** The C library's words for what a launch can fail with, and what kind of failure it is on the wire. */
const WORDS: Readonly<Record<string, readonly [kind: ExecErrorKind, number: number, words: string]>> = {
  ENOENT: ["spawnNotFound", 2, "No such file or directory"],
  E2BIG: ["spawnFailed", 7, "Argument list too long"],
  ENOEXEC: ["spawnFailed", 8, "Exec format error"],
  ENOMEM: ["spawnFailed", 12, "Cannot allocate memory"],
  EACCES: ["spawnPermissionDenied", 13, "Permission denied"],
  ENOTDIR: ["spawnFailed", 20, "Not a directory"],
  EMFILE: ["spawnFailed", 24, "Too many open files"],
};

/**
 * The failure that an operating system error means.
 *
 * @param error What was thrown, or the symbolic name of an error. One that is not in the table keeps its own words;
 * one that comes from elsewhere is thrown as it is.
 */
export function launchError(error: unknown): ExecError {
  const code = typeof error === "string" ? error : errorCode(error);
  if (code === undefined) throw error;
  const options = error === code ? undefined : { cause: error };
  const known = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  if (known === undefined) return new ExecError("spawnFailed", error instanceof Error ? error.message : code, options);
  const [kind, number, words] = known;
  return new ExecError(kind, `${words} (os error ${number})`, options);
}

/** The symbolic name in an error of Deno or Node.js; undefined: the operating system did not say it. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
