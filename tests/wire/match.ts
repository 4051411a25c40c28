import { EXTENSIONS_CAPABILITY } from "../../lib/protocol/extensions.ts";
import { type LoginShell, loginShell } from "../../lib/process/login_shell.ts";
import type { Bindings } from "./bindings.ts";
import type { Rules } from "./differences.ts";
import { show } from "./mismatch.ts";
import { searchPath } from "./workspace.ts";

export interface MatchContext {
  readonly bindings: Bindings;
  readonly rules: Rules;
  /** False when the server is not one that we started: what depends on its surroundings is not compared. */
  readonly surroundingsKnown: boolean;
  /** Who the server runs as; ourselves unless said otherwise. */
  readonly uid?: number | undefined;
}

/**
 * Compares a JSON value with a recorded one. The order of members does not matter, everything else does.
 *
 * @returns null, or what is different and where.
 */
export function difference(expected: unknown, actual: unknown, context: MatchContext, path = "message"): string | null {
  if (isObject(expected) && Object.hasOwn(expected, "executorVersion")) {
    return infoDifference(expected, actual, context, path);
  }
  if (expected === "<ms>") return isTime(actual) ? null : differs(path, expected, actual);
  if (typeof expected === "string" && typeof actual === "string") {
    return context.bindings.match(expected, actual) ? null : differs(path, expected, actual);
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    const [wanted, found] = isListing(expected) && isListing(actual)
      ? [sorted(expected), sorted(actual)]
      : [expected, actual];
    return first(wanted.keys(), (i) => difference(wanted[i], found[i], context, `${path}[${i}]`));
  }
  if (isObject(expected) && isObject(actual)) {
    const extra = Object.keys(actual).find((name) => !Object.hasOwn(expected, name));
    if (extra !== undefined) return `${path} has an unexpected member ${show({ [extra]: actual[extra] })}`;
    return first(
      Object.keys(expected),
      (name) =>
        name === "size" && expected["isDirectory"] === true && typeof actual["size"] === "number"
          ? null // depends on the file system
          : Object.hasOwn(actual, name)
          ? difference(expected[name], actual[name], context, `${path}.${name}`)
          : `${path} has no member ${name}`,
    );
  }
  return expected === actual && !isObject(expected) ? null : differs(path, expected, actual);
}

/** A time in whole milliseconds since 1970, not in the future. */
function isTime(value: unknown): boolean {
  return Number.isSafeInteger(value) && value as number > 0 && value as number <= Date.now();
}

/** What a directory holds, in the order of the system, which is not the recorded one's. */
function isListing(value: readonly unknown[]): value is readonly { readonly fileName: string }[] {
  return value.every((entry) => isObject(entry) && typeof entry["fileName"] === "string");
}

function sorted(listing: readonly { readonly fileName: string }[]): readonly unknown[] {
  return listing.toSorted((a, b) => a.fileName < b.fileName ? -1 : a.fileName > b.fileName ? 1 : 0);
}

/** Members of `environmentInfo` that depend on where the server runs. */
const SURROUNDINGS = ["shell", "cwd", "userHomeDir", "platformOs", "temporaryDirectories", "tempDir"];

/** Members that the reference gets from its own files, which it may not be able to read as another user. */
const INSTALLATION = ["executorVersion", "prependPathDirs"];

function infoDifference(
  expected: Readonly<Record<string, unknown>>,
  actual: unknown,
  context: MatchContext,
  path: string,
): string | null {
  if (!isObject(actual)) return differs(path, expected, actual);
  const info = { ...actual };
  const wanted: Record<string, unknown> = { ...expected, shell: expectedShell(context.uid ?? Deno.uid()) };
  const ignored = [
    ...(context.surroundingsKnown ? [] : SURROUNDINGS),
    ...(context.uid === undefined || context.rules.allows("environmentInfo") ? [] : INSTALLATION),
  ];
  for (const name of ignored) {
    delete info[name];
    delete wanted[name];
  }
  if (!context.rules.allows("environmentInfo")) return plain(wanted, info, context, path);
  const { capabilities, prependPathDirs } = info;
  const known = wanted["capabilities"] as Record<string, unknown>;
  if (!isObject(capabilities) || !Array.isArray(prependPathDirs)) return differs(path, expected, actual);
  const strange = Object.entries(capabilities)
    .find(([name, value]) =>
      typeof value !== "boolean" || (name !== EXTENSIONS_CAPABILITY && !Object.hasOwn(known, name))
    );
  if (strange !== undefined) return `${path}.capabilities has an unexpected member ${show(strange)}`;
  const directory = prependPathDirs.find((entry) => typeof entry !== "string" || !entry.startsWith("file:///"));
  if (directory !== undefined) return `${path}.prependPathDirs has ${show(directory)}, which is no file URI`;
  delete info["serverInfo"];
  return plain(
    { ...wanted, capabilities: {}, prependPathDirs: [] },
    { ...info, capabilities: {}, prependPathDirs: [] },
    context,
    path,
  );
}

/** Member by member, without looking for an `environmentInfo` again. */
function plain(
  expected: Readonly<Record<string, unknown>>,
  actual: Readonly<Record<string, unknown>>,
  context: MatchContext,
  path: string,
): string | null {
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return first(names, (name) => difference(expected[name], actual[name], context, `${path}.${name}`));
}

/**
 * The shell that a server tells of on this machine; recordings show that of another one. The account's own is read from
 * the password file; what follows when there is none is held to the reference by the tests of `loginShell`.
 */
function expectedShell(uid: number | null): LoginShell {
  const entries = Deno.readTextFileSync("/etc/passwd").split("\n").map((line) => line.split(":"));
  const own = entries.find((fields) => fields[2] === String(uid))?.[6] ?? null;
  return loginShell(own, searchPath(), {
    isFile: (path) => stat(path)?.isFile ?? false,
    isExecutable: (path) => ((stat(path)?.mode ?? 0) & 0o111) !== 0,
  });
}

function stat(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}

function first<T>(items: Iterable<T>, look: (item: T) => string | null): string | null {
  for (const item of items) {
    const found = look(item);
    if (found !== null) return found;
  }
  return null;
}

function differs(path: string, expected: unknown, actual: unknown): string {
  return `${path}: expected ${show(expected)}, got ${show(actual)}`;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
