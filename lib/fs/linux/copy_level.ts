import type { Bytes } from "../../linux/libc.ts";
import type { DestinationDirectory } from "./destination.ts";
import { DirectoryReader } from "./directory_reader.ts";
import type { Level } from "./levels.ts";
import type { Identity, OpenDirectory } from "./open_directory.ts";
import type { Steps } from "../steps.ts";

const SLASH = 0x2f;

export interface CopyLevelOptions {
  /** A directory that is copied, and the one that it is copied into; both are taken over. */
  readonly source: OpenDirectory;
  readonly target: OpenDirectory;
  /** Where they were found, and the name of the target there, with a NUL; null at the top. */
  readonly found: { readonly parent: CopyLevel; readonly name: Bytes; readonly throughLink: boolean } | null;
}

/** One level of a tree that is copied, on both sides. */
export class CopyLevel implements Level, DestinationDirectory {
  readonly reader: DirectoryReader;
  readonly #found: CopyLevelOptions["found"];
  #source: OpenDirectory;
  #target: OpenDirectory;
  /** What the level below is in cannot be found again by going up from it. The top is needed all the time. */
  #keepsTarget: boolean;
  /** Which directories were closed. */
  #parkedSource: Identity | null = null;
  #parkedTarget: Identity | null = null;

  constructor({ source, target, found }: CopyLevelOptions) {
    this.reader = new DirectoryReader(source.fd);
    this.#found = found;
    this.#source = source;
    this.#target = target;
    this.#keepsTarget = found === null;
    if (found?.throughLink) found.parent.#keepsTarget = true;
  }

  get source(): OpenDirectory {
    return this.#source;
  }

  get fd(): number {
    return this.#target.fd;
  }

  pathOf(name: Bytes): Bytes {
    const names = [name];
    for (let found = this.#found; found !== null; found = found.parent.#found) names.push(found.name);
    const path = new Uint8Array(names.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of names.reverse()) {
      path.set(part, at);
      at += part.length;
      path[at - 1] = at === path.length ? 0 : SLASH;
    }
    return path;
  }

  *park(): Steps<void> {
    if (this.#parkedSource !== null) return;
    this.#parkedSource = this.#source.identity();
    yield* this.reader.readAhead();
    this.#source[Symbol.dispose]();
    if (this.#keepsTarget) return;
    this.#parkedTarget = this.#target.identity();
    this.#target[Symbol.dispose]();
  }

  unpark(below: CopyLevel): void {
    if (this.#parkedSource === null) return;
    this.#source = below.#source.above(this.#parkedSource);
    this.#parkedSource = null;
    if (this.#parkedTarget === null) return;
    this.#target = below.#target.above(this.#parkedTarget);
    this.#parkedTarget = null;
  }

  [Symbol.dispose](): void {
    this.reader[Symbol.dispose]();
    this.#source[Symbol.dispose]();
    this.#target[Symbol.dispose]();
  }
}
