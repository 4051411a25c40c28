import config from "../../deno.json" with { type: "json" };
import type { Embedder } from "./base.ts";
import { fileOf, TERMINAL_PACKAGE } from "./packages.ts";
import { CompileError, runStep } from "./step.ts";

/** The program, bundled. */
export interface Program {
  /** Holds nothing else; the address of a module in an executable tells its place in this. */
  readonly directory: string;
  /** Modules of packages, in the folder `packages` of it, beside an empty `none.js`. */
  readonly packages: readonly string[];
  /** Paths of the files of others that it is made of. */
  readonly sources: readonly string[];
}

/**
 * Makes an executable.
 *
 * @param place Above the program's directory; the configuration is left there.
 * @throws {CompileError}
 */
export async function embed(
  { directory, packages }: Program,
  place: string,
  { deno, version, base }: Embedder,
  target: string,
  output: string,
  signal: AbortSignal,
): Promise<void> {
  const { unstable, nodeModulesDir } = config;
  const [, folder] = directory.split(`${place}/`);
  const imports = Object.fromEntries(packages.map((name) => [name, `./${folder}/packages/${fileOf(name)}.js`]));
  imports[TERMINAL_PACKAGE] = config.imports[TERMINAL_PACKAGE];
  if (target.includes("linux")) imports[TERMINAL_PACKAGE] = `./${folder}/packages/none.js`;
  await Deno.writeTextFile(`${place}/deno.json`, JSON.stringify({ imports, unstable, nodeModulesDir }));
  await Deno.copyFile("deno.lock", `${place}/deno.lock`);
  try {
    await runStep(deno, [
      ...["compile", "--allow-all", "--target", target, "--config", `${place}/deno.json`],
      // Types are checked before. What the runtime compiles would be kept in /tmp, under a name that everybody can take
      // first: whoever does, from within a sandbox even, would have us run what he likes.
      ...["--no-check", "--no-code-cache"],
      // Runtimes before Deno 2.5 have the base64 of arrays behind a flag.
      ...(isBefore(version, 2, 5) ? ["--v8-flags=--js-base-64"] : []),
      // What is imported when it is needed has to be named: it is not followed.
      ...["--include", directory, "--output", output, `${directory}/main.js`],
    ], signal);
  } catch (error) {
    if (!(error instanceof CompileError) || base !== undefined || !error.message.includes("denort")) throw error;
    throw new CompileError(
      `the run-time base of Deno ${version} for ${target} could not be downloaded from dl.deno.land; where that ` +
        "cannot be reached, set DENORT_BIN to a denort executable of this version",
      { cause: error },
    );
  }
  await holdToLock(await Deno.readTextFile(`${place}/deno.lock`));
}

function isBefore(version: string, major: number, minor: number): boolean {
  const [itsMajor = 0, itsMinor = 0] = version.split(".").map(Number);
  return itsMajor < major || (itsMajor === major && itsMinor < minor);
}

/** Fails if anything else was taken than what the lock file of the project names. */
async function holdToLock(used: string): Promise<void> {
  const { npm: locked } = JSON.parse(await Deno.readTextFile("deno.lock"));
  for (const [name, { integrity }] of Object.entries<{ integrity: string }>(JSON.parse(used).npm ?? {})) {
    if (locked[name]?.integrity !== integrity) throw new CompileError(`${name} is not what deno.lock names`);
  }
}
