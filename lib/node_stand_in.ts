/** What Deno does to the environment of whom it runs, for the sake of programs that look for Node.js. */

/** `Deno.env`, or what stands for it. */
export interface Variables {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  delete(name: string): void;
}

/** Deno's sign that it has been here. Source: Deno 2.9, cli/node_shim. */
const SIGN = "DENO_NODE_SHIM_ACTIVE";
/** The folder in Deno's cache with a `node` that is Deno. */
const FOLDER = "node_compat_bin";

/**
 * Where PATH knows no `node`, `deno run` puts a folder before it that has one, Deno itself. Programs of ours would find
 * a Node.js that is none, and where there is no PATH they would find nothing else: it would be all of their PATH, which
 * otherwise has a default. So it is undone.
 */
export function removeNodeStandIn(variables: Variables, separator: ":" | ";"): void {
  if (variables.get(SIGN) === undefined) return;
  variables.delete(SIGN);
  const path = variables.get("PATH");
  if (path === undefined) return;
  const entries = path.split(separator);
  const own = entries.filter((entry) => entry.split(/[/\\]/).at(-1) !== FOLDER);
  if (own.length === 0) variables.delete("PATH");
  else if (own.length < entries.length) variables.set("PATH", own.join(separator));
}
