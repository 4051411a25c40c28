import { isRoot, type Scratch } from "../scratch.ts";

/** Whether a child of ours may have mounts of its own. */
export const mayMount = isRoot && new Deno.Command("unshare", { args: ["--mount", "true"] }).outputSync().success;

/**
 * Runs a program with mounts of its own, of which nothing is left afterwards.
 *
 * @param mount A command of the shell, in the directory of the scratch.
 * @param program TypeScript; its arguments are absolute paths.
 * @param names Names in the scratch, for the arguments.
 * @returns What it prints.
 */
export function runWithMount(scratch: Scratch, mount: string, program: string, names: readonly string[]): string {
  scratch.write("program.ts", program);
  const paths = names.map((name) => `"$PWD/${name}"`).join(" ");
  return scratch.shell(
    `unshare --mount --propagation private sh -c '${mount} &&
      exec "$0" run --no-check -A program.ts ${paths}' '${Deno.execPath()}'`,
  ).trim();
}
