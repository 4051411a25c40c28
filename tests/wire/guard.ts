/**
 * Keeps a replay from touching anything but the scenario's own directory, whatever a recording says: a removal is
 * recursive and forced unless told otherwise. It shares no code with the server, which is what is under test.
 */
import { dirname, isWithin, normalize } from "./paths.ts";

type Params = Readonly<Record<string, unknown>>;

/** These tell whether something is there and of what kind, and may name anything. */
const LOOKS = ["fs/canonicalize", "fs/getMetadata", "fs/watchMissing"];
/** These read, and may name only what lies in the directory. */
const READS = ["fs/readFile", "fs/readDirectory", "fs/walk"];
/** Params with these work on handles; their paths were checked when they were opened. */
const HANDLES = ["fs/readBlock", "fs/writeBlock", "fs/close"];
/** These change what is there, or may; the members that name it. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  "fs/writeFile": ["path"],
  "fs/createDirectory": ["path"],
  "fs/remove": ["path"],
  "fs/open": ["path"],
  "fs/copy": ["sourcePath", "destinationPath"],
};

/** Requests that name a place elsewhere where they can do no harm: what exists cannot be made, `/proc` not unlinked. */
const HARMLESS = [
  '["fs/createDirectory",{"path":"file:///"}]',
  '["fs/createDirectory",{"path":"file:///","recursive":false}]',
  '["fs/remove",{"path":"file:///proc/version","recursive":false}]',
  '["fs/readFile",{"path":"file:///x"}]',
];

/** How many links a path may lead through. */
const MAX_LINKS = 40;

/** The path leads out of the directory, or its file cannot be told. */
export class Unsafe extends Error {
  override readonly name = "Unsafe";
}

export class Guard {
  /** @param root An absolute path without links: all that may be changed lies in it. */
  constructor(readonly root: string) {}

  /** @throws {Unsafe} If a message that is about to be sent could change or read what lies elsewhere. */
  async checkMessage(text: string): Promise<void> {
    const message = parseOrNull(text);
    if (message === null && text.includes("fs/")) throw new Unsafe(`it is not certain that this is refused: ${text}`);
    if (typeof message?.["method"] !== "string") return; // no request: nothing is done
    const { method, params } = message as { method: string; params?: unknown };
    if (!method.startsWith("fs/") || typeof params !== "object" || params === null || Array.isArray(params)) return;
    if (LOOKS.includes(method) || HANDLES.includes(method) || HARMLESS.includes(JSON.stringify([method, params]))) {
      return;
    }
    const members = READS.includes(method) ? ["path"] : CHANGES[method];
    // Methods that do not exist do nothing.
    for (const member of members ?? []) await this.#checkUri((params as Params)[member], method);
  }

  /** @throws {Unsafe} If a path of a setup lies elsewhere. */
  async checkPath(path: string): Promise<void> {
    if (normalize(path) !== path || !isWithin(this.root, path)) throw new Unsafe(`${path} is not below ${this.root}`);
    const real = await resolve(path, MAX_LINKS);
    if (!isWithin(this.root, real)) throw new Unsafe(`${path} leads to ${real}, which is not below ${this.root}`);
  }

  /** @throws {Unsafe} If a link at `path` with this text would point elsewhere. */
  checkLink(path: string, target: string): void {
    const to = normalize(target.startsWith("/") ? target : `${dirname(path)}/${target}`);
    if (!isWithin(this.root, to)) throw new Unsafe(`a link from ${path} to ${target} leads out of ${this.root}`);
  }

  async #checkUri(uri: unknown, method: string): Promise<void> {
    if (typeof uri !== "string") return; // not decoded, so nothing is done
    const url = URL.parse(uri);
    if (url === null || url.protocol !== "file:" || !["", "localhost"].includes(url.hostname)) {
      throw new Unsafe(`${method} of ${uri}: it is not certain that this is refused`);
    }
    await this.checkPath(normalize(decode(url.pathname)));
  }
}

/** Where a path leads, of which the last parts need not be there. */
async function resolve(path: string, links: number): Promise<string> {
  if (path === "/") return path;
  if (links === 0) return path; // a loop: the system refuses it
  const parent = await resolve(dirname(path), links);
  const here = `${parent === "/" ? "" : parent}/${path.slice(path.lastIndexOf("/") + 1)}`;
  const target = await linkTarget(here);
  if (target === null) return here;
  return await resolve(normalize(target.startsWith("/") ? target : `${parent}/${target}`), links - 1);
}

async function linkTarget(path: string): Promise<string | null> {
  try {
    return (await Deno.lstat(path)).isSymlink ? await Deno.readLink(path) : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw error;
  }
}

/** Percent-encoded bytes as text; what is no UTF-8 names no file that a link could stand at. */
function decode(pathname: string): string {
  const bytes = new TextEncoder().encode(pathname).values().toArray();
  const decoded: number[] = [];
  for (let i = 0; i < bytes.length; i++) {
    const hex = bytes[i] === 0x25 ? String.fromCharCode(...bytes.slice(i + 1, i + 3)) : "";
    const escaped = /^[0-9a-f]{2}$/i.test(hex);
    decoded.push(escaped ? parseInt(hex, 16) : bytes[i]!);
    if (escaped) i += 2;
  }
  return new TextDecoder().decode(Uint8Array.from(decoded));
}

function parseOrNull(text: string): Params | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value as Params : null;
  } catch {
    return null; // malformed on purpose
  }
}
