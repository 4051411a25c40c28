/** Runs the scripts of attempts by the server, several in one sandbox. */
import { type Members, WireError } from "../../support/wire_client.ts";
import type { EscapeServer } from "../support/server.ts";

export interface Program {
  /** Perl, after `prelude.pl`. */
  readonly script: string;
  readonly facts: Readonly<Record<string, string>>;
  /** The descriptor of the server's victim that whoever starts it leaves open; undefined: none. */
  readonly leaks: number | undefined;
}

const [PRELUDE, DRIVER] = await Promise.all(
  ["prelude.pl", "driver.pl"].map((name) => Deno.readTextFile(new URL(`../support/${name}`, import.meta.url))),
) as [string, string];

/** @returns What each said, on both streams. */
export async function runPrograms(
  programs: readonly Program[],
  server: EscapeServer,
  sandbox: Members | null,
): Promise<string[]> {
  const words = programs.flatMap(({ script, facts }) => [
    Object.entries(facts).map(([name, value]) => `${name}=${value}`).join("\n"),
    script,
  ]);
  const leaks = programs.find(({ leaks }) => leaks !== undefined)?.leaks;
  const opened = leaks === undefined ? [] : ["sh", "-c", `exec ${leaks}>>"$1"; shift; exec "$@"`, "sh", server.victim];
  const argv = [...opened, "perl", "-e", DRIVER, "--", PRELUDE, ...words];
  let output: string;
  try {
    ({ output } = await server.run(argv, programs[0]!.facts["ws"]!, sandbox));
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return programs.map(() => `not started: ${error.code} ${error.message}\n`);
  }
  const said = programs.map(() => "");
  for (const line of output.split("\n")) {
    const [, number, text] = /^(\d+)\t(.*)$/s.exec(line) ?? [];
    // What nobody said belongs to the sandbox, for example why it could not be set up.
    if (number === undefined || said[Number(number)] === undefined) {
      said.forEach((_, index) => said[index] += `${line}\n`);
    } else said[Number(number)] += `${text}\n`;
  }
  return said;
}
