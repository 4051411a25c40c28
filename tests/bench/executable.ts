import { Buffer } from "node:buffer";
import type { ServerCommand } from "../program/running_server.ts";
import type { Line } from "./samples.ts";

const PATH = new URL("../../dist/exec-server", import.meta.url).pathname;

/** What `deno task compile` has made. */
export interface Executable {
  readonly command: ServerCommand;
  /** The version of its run-time base, which says more of its speed than ours does. */
  readonly base: string;
}

/** Null: there is none. */
export async function builtExecutable(): Promise<Executable | null> {
  let bytes;
  try {
    bytes = Buffer.from((await Deno.readFile(PATH)).buffer);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
  for (let at = bytes.indexOf("Deno/"); at >= 0; at = bytes.indexOf("Deno/", at + 1)) {
    // What the base says of itself to servers.
    const version = /^Deno\/(\d+\.\d+\.\d+)/.exec(bytes.toString("latin1", at, at + 20))?.[1];
    if (version !== undefined) return { command: [PATH], base: version };
  }
  throw new Error(`${PATH} does not tell which run-time base it has`);
}

/** The same lines; those of the executable say on which base it runs if that is not the Deno of the others. */
export function nameBase(lines: readonly Line[], executable: Executable | null): readonly Line[] {
  if (executable === null || executable.base === Deno.version.deno) return lines;
  return lines.map((line) =>
    line.row.id.endsWith("-executable")
      ? { ...line, row: { ...line.row, title: `${line.row.title} on the base of Deno ${executable.base}` } }
      : line
  );
}
