import { shownName, TarError } from "./tar_header.ts";

/** Characters of the names of links that are kept at most; a million of them have about 50 million. */
const MAX_LINK_CHARS = 64 * 1024 * 1024;

/**
 * The names in an archive, one character for each byte. None may lead out of the tree: not by itself, and not through a
 * link of the same archive, whatever the tar does that unpacks it.
 */
export class TarNames {
  /** Without empty components and dots. */
  readonly #links = new Set<string>();
  #chars = 0;

  /** A file or directory. @throws {TarError} If it is not in the tree. */
  entry(name: string): void {
    const path = inside(name);
    this.#requireNoLink(path);
    if (this.#links.has(path)) throw throughLink(path);
  }

  /** A symbolic link, to whatever. @throws {TarError} If it is not in the tree itself, or one too many. */
  link(name: string): void {
    const path = inside(name);
    this.#requireNoLink(path);
    this.#keep(path);
  }

  /** Another name for what has one. @throws {TarError} If one of them is not in the tree. */
  hardLink(name: string, target: string): void {
    const [path, old] = [inside(name), inside(target)];
    this.#requireNoLink(path);
    this.#requireNoLink(old);
    if (this.#links.has(old)) this.#keep(path);
  }

  #keep(path: string): void {
    if (this.#links.has(path)) return;
    this.#chars += path.length;
    if (this.#chars > MAX_LINK_CHARS) throw new TarError("the archive has too many links");
    this.#links.add(path);
  }

  #requireNoLink(path: string): void {
    if (this.#links.size === 0) return;
    for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
      const above = path.slice(0, slash);
      if (this.#links.has(above)) throw throughLink(above);
    }
  }
}

function throughLink(path: string): TarError {
  return new TarError(`the archive leads through a link of its own, '${shownName(path)}'`);
}

/** Whether it is the tree itself that has the name. */
export function isRoot(name: string): boolean {
  return inside(name) === "";
}

/** @returns The name without empty components and dots. */
function inside(name: string): string {
  const components = name.split("/").filter((component) => component !== "" && component !== ".");
  const isForeign = Deno.build.os === "windows" && /[\\:]/.test(name);
  if (name.startsWith("/") || name.includes("\0") || components.includes("..") || isForeign) {
    throw new TarError(`the archive names '${shownName(name)}', which is outside of the tree`);
  }
  return components.join("/");
}
