/** What the authors of packages want said by whoever passes them on: their names, and the texts of their licences. */
import { dirname, resolve } from "node:path";
import { CompileError } from "./step.ts";

/** Licences, by their SPDX identifiers, that want no more than that. */
const PERMISSIVE = new Set([
  ...["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT", "Unlicense"],
]);

const TEXTS = /^(licen[cs]e|notice|copying|copyright|third-?party)[^.]*(\.(txt|md))?$/i;
const RULE = "=".repeat(80);

/** A package that others have made. */
export interface Package {
  readonly directory: string;
  readonly name: string;
  readonly version: string;
  /** An SPDX identifier, one of the permissive licences. */
  readonly licence: string;
  /** Packages with native parts of it that are embedded, for one system each, made from the same sources. */
  readonly nativeParts: readonly string[];
  /** What its files say about its licence; none, if it has no such file. */
  readonly texts: readonly string[];
}

/**
 * The packages that files belong to, each once.
 *
 * @throws {CompileError} A file belongs to none, or a package to no permissive licence.
 */
export async function packagesOf(files: readonly string[]): Promise<Package[]> {
  const known = new Map<string, Package>();
  /** By the directory of the file. */
  const found = new Map<string, Promise<Package>>();
  for (const file of files) {
    const directory = dirname(file);
    if (!found.has(directory)) found.set(directory, packageAbove(directory, file));
    const itsPackage = await found.get(directory)!;
    known.set(itsPackage.directory, itsPackage);
  }
  return [...known.values()];
}

/**
 * A package that belongs to an executable without being bundled. Deno keeps packages side by side.
 *
 * @throws {CompileError} It is not there, or has no permissive licence.
 */
export async function packageBeside(other: Package, name: string, version: string): Promise<Package> {
  const up = [...other.name.split("/"), other.version].map(() => "..");
  const found = await readPackage(resolve(other.directory, ...up, name, version));
  if (found?.name !== name) throw new CompileError(`the package ${name} ${version} is not in the cache of Deno`);
  return found;
}

async function packageAbove(directory: string, file: string): Promise<Package> {
  const found = await readPackage(directory);
  if (found !== undefined) return found;
  if (dirname(directory) === directory) throw new CompileError(`it is not known which package ${file} belongs to`);
  return await packageAbove(dirname(directory), file);
}

/**
 * @returns Nothing for a directory that is not the topmost of a package.
 * @throws {CompileError} It has no licence that is known to be permissive.
 */
async function readPackage(directory: string): Promise<Package | undefined> {
  let text;
  try {
    text = await Deno.readTextFile(`${directory}/package.json`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  const { name, version, license, optionalDependencies = {} } = JSON.parse(text);
  // Some directories within packages have such a file as well, which says how their modules are to be read.
  if (name === undefined || version === undefined) return undefined;
  if (!PERMISSIVE.has(license)) {
    const what = license === undefined ? "names no licence" : `has the licence ${JSON.stringify(license)}`;
    throw new CompileError(
      `the package ${name} ${version} ${what}; what executables embed has one of ${[...PERMISSIVE].join(", ")}`,
    );
  }
  const files = (await Array.fromAsync(Deno.readDir(directory))).filter((entry) =>
    entry.isFile && TEXTS.test(entry.name)
  );
  const texts = await Promise.all(
    files.map(({ name }) => name).sort().map((name) => Deno.readTextFile(`${directory}/${name}`)),
  );
  const nativeParts = Object.keys(optionalDependencies).sort()
    // Those for Linux stay outside.
    .filter((part) => part.startsWith(`${name}-`) && !part.startsWith(`${name}-linux-`));
  return { directory, name, version, licence: license, nativeParts, texts: texts.map(evenOut).filter(Boolean) };
}

/** The text, whatever ends its lines. */
function evenOut(text: string): string {
  return text.replaceAll(/[^\S\n]+$/gm, "").replace(/^\n+|\n+$/g, "");
}

/**
 * The notices as a text of its own, the same wherever it is made.
 *
 * @param deno The version of the run-time base.
 */
export function noticesOf(packages: readonly Package[], deno: string): string {
  const all = [...new Map(packages.map((itsPackage) => [title(itsPackage), itsPackage]))].sort(([a], [b]) =>
    a < b ? -1 : 1
  );
  const titles = new Map<string, string[]>();
  const without: string[] = [];
  for (const [title, { texts }] of all) {
    if (texts.length === 0) without.push(title);
    else titles.set(texts.join("\n\n"), [...titles.get(texts.join("\n\n")) ?? [], title]);
  }
  const sections = [...titles].map(([text, titles]) => `${titles.join("\n")}\n\n${text}`);
  if (without.length > 0) {
    sections.push(
      `${
        without.join("\n")
      }\n\nThese bring no text of their licence, which https://spdx.org/licenses/ has by its name.`,
    );
  }
  return [
    `The executables of exec-server hold, beside its own program, what others have made.

Deno ${deno} (MIT), which runs it: its licence is https://github.com/denoland/deno/blob/v${deno}/LICENSE.md,
and what it is made of is named at https://github.com/denoland/deno/blob/v${deno}/Cargo.lock

The packages below, or parts of them. Those of @lydell/node-pty are in the executables for macOS and Windows alone.`,
    ...sections,
  ].join(`\n\n${RULE}\n`) + "\n";
}

function title({ name, version, licence, nativeParts }: Package): string {
  return [`${name} ${version} (${licence})`, ...nativeParts.map((part) => `  with ${part}`)].join("\n");
}
