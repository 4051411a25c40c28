/** An operand of `cp`: where something comes from, or goes to. */
export type Place =
  /** Standard input or output. */
  | { readonly side: "stream" }
  | { readonly side: "local" | "environment"; readonly path: string };

const PREFIX = "env:";

/**
 * Reads an operand: `env:PATH` is in the environment (`env:` alone its directory), `-` a stream, all else a local path;
 * a local file called `env:x` is `./env:x`.
 */
export function parsePlace(operand: string): Place {
  if (operand === "-") return { side: "stream" };
  if (operand.startsWith(PREFIX)) return { side: "environment", path: operand.slice(PREFIX.length) || "." };
  return { side: "local", path: operand };
}

/** The environment's path in an operand of `ls` or `cat`, where the prefix may be left out. */
export function environmentPath(operand: string): string {
  return operand.startsWith(PREFIX) ? operand.slice(PREFIX.length) || "." : operand;
}

/** Whether a path ends in a way that only a directory's can: `dir/`, `dir/.`, `..`. */
export function saysDirectory(path: string): boolean {
  return path !== "" && /(^|\/)\.{0,2}$/.test(path);
}

/** Whether a path says `what is in it` rather than the directory itself: `dir/.`, `.`. */
export function saysContents(path: string): boolean {
  return /(^|\/)\.$/.test(path);
}
