/**
 * What the program uses of other people's packages, as a few modules that import nothing else. Embedded whole, packages
 * are six times as big and mostly types and documents, and every start reads the list of all their files.
 */
import { resolve } from "node:path";
import { CompileError, runStep } from "./step.ts";

/** It has native parts, which cannot be bundled. Terminals on Linux do not need it. */
export const TERMINAL_PACKAGE = "@lydell/node-pty";

/** How bundled packages find modules: as an installed one would, and from any folder above theirs. */
const ANY_MODULE = "__deno_internal_createRequire(import.meta.url)";
/** The same for modules of the runtime alone. */
const RUNTIME_MODULES =
  '((name)=>{const found=process.getBuiltinModule(name);if(found)return found;throw new Error(name+" is not part of this program")})';

/** The modules of packages that the modules at these paths import, as they are written there. */
export async function packageModules(
  imports: Readonly<Record<string, string>>,
  paths: readonly string[],
): Promise<string[]> {
  const named = (await Promise.all(paths.map(modules))).flat().flatMap((source) =>
    [...source.matchAll(/^(?!import type|\s*\/?\*).*?(?:\bfrom |\bimport\()"([^"]+)"/gm)].map(([, name]) => name!)
  );
  const isOfPackage = (name: string) =>
    Object.keys(imports).some((key) => key.endsWith("/") ? name.startsWith(key) : name === key);
  return [...new Set(named)].filter(isOfPackage).sort();
}

async function modules(path: string): Promise<string[]> {
  if ((await Deno.stat(path)).isFile) return /\.[jt]s$/.test(path) ? [await Deno.readTextFile(path)] : [];
  const entries = await Array.fromAsync(Deno.readDir(path));
  return (await Promise.all(entries.map(({ name }) => modules(`${path}/${name}`)))).flat();
}

/** What the file of a module is called, without an ending. */
export function fileOf(module: string): string {
  return module.replace(/\.js$/, "").replace(/^@/, "").replaceAll("/", "_");
}

/**
 * @param modules Of packages.
 * @param place Where it may leave files while it works.
 * @param directory Where there will be a file for each of them.
 * @returns The paths of the files that the bundles are made of.
 * @throws {CompileError}
 */
export async function bundlePackages(
  modules: readonly string[],
  place: string,
  directory: string,
  signal: AbortSignal,
): Promise<string[]> {
  await Deno.mkdir(place, { recursive: true });
  const entries = await Promise.all(modules.map(async (module) => {
    const entry = `${place}/${fileOf(module)}.mjs`;
    await Deno.writeTextFile(entry, reexport(module, Object.keys(await import(module))));
    return entry;
  }));
  // No file is shared: a module of the older kind that is split off, as it is imported when needed, loses its names.
  const how = ["--quiet", "--minify", "--sourcemap=external", "--outdir", directory];
  // Optional accelerators of `ws`, native ones.
  const without = ["--external=bufferutil", "--external=utf-8-validate"];
  await runStep(Deno.execPath(), ["bundle", ...how, ...without, ...entries], signal);
  const sources = await takeSources(directory);
  await confineRequire(directory);
  const ours = new Set(entries.map((entry) => resolve(entry)));
  return sources.filter((source) => !ours.has(source));
}

/** Takes the source maps from a directory, and tells which sources they name. */
async function takeSources(directory: string): Promise<string[]> {
  const maps = (await Array.fromAsync(Deno.readDir(directory))).filter(({ name }) => name.endsWith(".map"));
  const all = await Promise.all(maps.map(async ({ name }) => {
    const { sources } = JSON.parse(await Deno.readTextFile(`${directory}/${name}`)) as { sources: string[] };
    await Deno.remove(`${directory}/${name}`);
    return sources.map((source) => resolve(directory, source));
  }));
  return [...new Set(all.flat())];
}

/** A module that exports what another does, also if that is of the older kind. */
function reexport(module: string, names: readonly string[]): string {
  const named = names.filter((name) => /^[\w$]+$/.test(name) && name !== "default");
  const main = names.includes("default") ? `import * as all from "${module}"; export default all.default;\n` : "";
  return `${main}export { ${named.join(", ")} } from "${module}";\n`;
}

/**
 * Takes the way to modules on disk from bundled packages. Modules of an executable are named as if they lay in a folder
 * of /tmp, above which everybody could place a module that a package looks for and does without, if it is not there.
 */
async function confineRequire(directory: string): Promise<void> {
  for await (const { name } of Deno.readDir(directory)) {
    const parts = (await Deno.readTextFile(`${directory}/${name}`)).split(ANY_MODULE);
    if (parts.join("").includes("createRequire(")) throw new CompileError(`${name} can load modules from disk`);
    await Deno.writeTextFile(`${directory}/${name}`, parts.join(RUNTIME_MODULES));
  }
}
