import { osErrorText } from "../linux/errno.ts";

/**
 * What takes the place of a program that cannot be run: its last words and its exit code, both the reference's, which
 * gives a program another name by a different way than its own, with words of its own.
 *
 * @param error The number.
 */
export function notRun(
  { file, argv }: { readonly file: string; readonly argv: readonly string[] },
  error: number,
): { readonly exitCode: number; readonly message: string } {
  const reason = osErrorText(error);
  return argv[0] === file
    ? { exitCode: 101, message: `sandbox: Failed to execvp ${file}: ${reason}` }
    : { exitCode: 1, message: `failed to exec "${file}": ${reason}` };
}
