import config from "../../deno.json" with { type: "json" };
import type { Program } from "./embed.ts";
import { bundlePackages, packageModules, TERMINAL_PACKAGE } from "./packages.ts";
import { runStep } from "./step.ts";

/**
 * Bundles the program below a place: what is loaded only when it is needed stays in files of its own, and what of the
 * packages is used comes beside it, in a bundle of its own, so that no start of the program pays for what makes
 * packages of the older kind work.
 *
 * @throws {CompileError}
 */
export async function bundleProgram(place: string, signal: AbortSignal): Promise<Program> {
  const directory = `${place}/program`;
  // A bundle does not hold itself to the lock file.
  await runStep(Deno.execPath(), ["cache", "--frozen", "--quiet", "main.ts"], signal);
  const all = await packageModules(config.imports, ["main.ts", "lib"]);
  const packages = all.filter((name) => name !== TERMINAL_PACKAGE);
  const how = ["--quiet", "--code-splitting", "--outdir", directory];
  const without = all.map((name) => `--external=${name}`);
  await runStep(Deno.execPath(), ["bundle", ...how, ...without, "main.ts"], signal);
  const sources = await bundlePackages(packages, `${place}/entries`, `${directory}/packages`, signal);
  await Deno.writeTextFile(`${directory}/packages/none.js`, "");
  await forgetTimes(directory);
  return { directory, packages, sources };
}

/** Executables hold the times of files, and two builds shall be the same. */
async function forgetTimes(directory: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    if (isDirectory) await forgetTimes(`${directory}/${name}`);
    else await Deno.utime(`${directory}/${name}`, 0, 0);
  }
}
