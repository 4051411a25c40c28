/**
 * Makes `dist/npm`, the client as a package of ES modules and their types for Node.js 22 and later, Bun, and browsers
 * with the help of a bundler. Types are checked against the web's own, without Deno's, so that what only Deno has does
 * not get in; `using` and `await using` become what older engines understand.
 */
import ts from "typescript";
import config from "../deno.json" with { type: "json" };

const PROJECT = new URL("../", import.meta.url).pathname;

/** The exports of the package that need nothing of Deno's. */
const EXPORTS = [".", "./protocol"] as const;

/** What Node.js 22 has of the language, and the web's types. Not ESNext: that has more, such as `Promise.try`. */
const LIBRARIES = [
  ...["es2024", "esnext.array", "esnext.collection", "esnext.disposable", "esnext.iterator"],
  ...["dom", "dom.iterable", "dom.asynciterable"],
];

/** What the types above know and Node.js 22 does not have, or has under another name only. */
const MISSING = /\b(DisposableStack|AsyncDisposableStack|ErrorEvent)\b/;

/** Other people's modules have no types here: what is done with them is checked by `deno check`. */
const CANNOT_FIND_MODULE = 2307;
/** An error that is no instance of a class that has no type here. */
const IS_UNKNOWN = 18046;

/** What classes of ours extend has to have types all the same: as much of them as is needed for that. */
const FOREIGN_CLASSES = `
declare module "protobufjs/minimal.js" {
  namespace protobuf {
    class Reader {
      buf: Uint8Array;
      pos: number;
      len: number;
      constructor(buffer: Uint8Array);
      uint32(): number;
      tag(): number;
      size(): number;
      skip(length?: number): this;
      [member: string]: any;
    }
    class Writer {
      [member: string]: any;
    }
  }
  export default protobuf;
}`;
const FOREIGN_CLASSES_FILE = `${PROJECT}lib/foreign_classes.d.ts`;

/**
 * @param directory Emptied first.
 * @throws {Error} With what the compiler says.
 */
export async function buildPackage(
  directory: string,
): Promise<{ files: number; dependencies: Record<string, string> }> {
  await removeIfThere(directory);
  const entries = EXPORTS.map((name) => PROJECT + config.exports[name].slice("./".length));
  const { sources, foreign } = compile(entries, directory);
  const dependencies = versions(foreign);
  await Deno.writeTextFile(`${directory}/package.json`, JSON.stringify(manifest(dependencies), null, 2) + "\n");
  for (const name of ["LICENSE", "README.md"]) await Deno.copyFile(PROJECT + name, `${directory}/${name}`);
  return { files: sources, dependencies };
}

interface Compiled {
  readonly sources: number;
  /** Modules that are not ours, as they are named in the sources. */
  readonly foreign: ReadonlySet<string>;
}

function compile(entries: readonly string[], directory: string): Compiled {
  const options: ts.CompilerOptions = {
    ...{
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      lib: LIBRARIES.map((name) => `lib.${name}.d.ts`),
    },
    ...{ moduleResolution: ts.ModuleResolutionKind.Bundler, types: [], verbatimModuleSyntax: true },
    ...{ strict: true, noImplicitAny: false, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    ...{ rewriteRelativeImportExtensions: true, declaration: true, rootDir: `${PROJECT}lib`, outDir: directory },
  };
  const host = ts.createCompilerHost(options);
  const foreign = new Set<string>();
  host.resolveModuleNameLiterals = (literals, containing, redirected) =>
    literals.map(({ text }) => {
      if (text.startsWith(".")) return ts.resolveModuleName(text, containing, options, host, undefined, redirected);
      foreign.add(text);
      return { resolvedModule: undefined };
    });
  const { getSourceFile } = host;
  host.getSourceFile = (name, ...others) =>
    name === FOREIGN_CLASSES_FILE
      ? ts.createSourceFile(name, FOREIGN_CLASSES, ts.ScriptTarget.ES2022)
      : getSourceFile.call(host, name, ...others);
  const program = ts.createProgram([...entries, FOREIGN_CLASSES_FILE], options, host);
  const faults = ts.getPreEmitDiagnostics(program).filter(({ code }) =>
    code !== CANNOT_FIND_MODULE && code !== IS_UNKNOWN
  );
  if (faults.length > 0) {
    throw new Error(ts.formatDiagnostics(faults, { ...host, getCurrentDirectory: () => PROJECT }));
  }
  const sources = program.getSourceFiles().filter(({ fileName, isDeclarationFile }) =>
    fileName.startsWith(PROJECT) && !isDeclarationFile
  );
  for (const { fileName, text } of sources) refuseMissing(fileName.slice(PROJECT.length), text);
  program.emit();
  return { sources: sources.length, foreign };
}

function refuseMissing(path: string, text: string): void {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const [found] = MISSING.exec(code) ?? [];
  if (found !== undefined) throw new Error(`${path}: ${found} is missing in Node.js 22`);
}

/** The packages among foreign modules, with the versions that `deno.json` pins. */
function versions(foreign: ReadonlySet<string>): Record<string, string> {
  const dependencies: Record<string, string> = {};
  for (const module of [...foreign].filter((module) => !module.startsWith("node:")).sort()) {
    const [name] = /^(@[^/]+\/)?[^/]+/.exec(module)!;
    dependencies[name] = pinnedVersion(name, module === name ? name : `${name}/`);
  }
  return dependencies;
}

/**
 * @param entry Of the import map: the package itself, or with a slash behind it for the modules in it.
 * @throws {Error} It is not there, or is something else than one version of that package.
 */
function pinnedVersion(name: string, entry: string): string {
  const pinned = (config.imports as Readonly<Record<string, string>>)[entry];
  const [start, end] = entry === name ? [`npm:${name}@`, ""] : [`npm:/${name}@`, "/"];
  const version = pinned?.startsWith(start) && pinned.endsWith(end) &&
    pinned.slice(start.length, pinned.length - end.length);
  if (!version || !/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`${entry} has no version in deno.json`);
  return version;
}

function manifest(dependencies: Readonly<Record<string, string>>): Record<string, unknown> {
  const files = (name: typeof EXPORTS[number]) => {
    const file = config.exports[name].replace("./lib/", "./").replace(/\.ts$/, "");
    return { types: `${file}.d.ts`, default: `${file}.js` };
  };
  const main = files(".");
  return {
    name: config.name,
    version: config.version,
    description:
      "Client of exec-server: programs, files and HTTP requests on another machine, over lost connections too",
    license: config.license,
    type: "module",
    engines: { node: ">=22" },
    exports: { ...Object.fromEntries(EXPORTS.map((name) => [name, files(name)])), "./package.json": "./package.json" },
    main: main.default,
    types: main.types,
    sideEffects: ["./dispose_symbols.js"],
    dependencies,
  };
}

async function removeIfThere(directory: string): Promise<void> {
  try {
    await Deno.remove(directory, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

if (import.meta.main) {
  const { files, dependencies } = await buildPackage(`${PROJECT}dist/npm`);
  console.log(`dist/npm: ${files} modules, depends on ${Object.keys(dependencies).join(", ") || "nothing"}`);
}
