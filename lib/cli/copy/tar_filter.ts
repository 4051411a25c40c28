import {
  BLOCK_BYTES,
  cString,
  paxRecords,
  readHeader,
  shownName,
  TarError,
  type TarHeader,
  withoutSetId,
} from "./tar_header.ts";
import { isRoot, TarNames } from "./tar_names.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Extended headers of one entry together; a name of 4096 bytes is the longest that systems take. */
const MAX_EXTENSION_BYTES = 1024 * 1024;
const EMPTY_BLOCK = new Uint8Array(BLOCK_BYTES);

const FILE = "0", HARD_LINK = "1", SYMBOLIC_LINK = "2", DIRECTORY = "5";
const SPECIAL = new Set(["3", "4", "6"]);
const PAX = "x", LONG_NAME = "L", LONG_LINK = "K", GLOBAL_PAX = "g";
/** What a header can say without a pax record. */
const MAX_USTAR_SIZE = 0o77777777777;

export interface TarFilterOptions {
  /** The entry of the tree itself is left out, so that what is added to keeps its own permission bits. */
  readonly withoutRoot?: boolean;
}

export interface TarObserver {
  /** An entry that is passed on. */
  entry?(name: string, isDirectory: boolean): void;
  /** A device or fifo, which is not. */
  leftOut?(name: string): void;
}

/**
 * An archive on its way from one machine to the other. The side that wrote it need not be trusted: devices and fifos are
 * left out, set-id bits are taken away, and a name that leads out of the tree, or through a link of it, ends it all. All
 * else passes unchanged, and nothing is kept but a header and the names of links.
 */
export class TarFilter {
  readonly #observer: TarObserver;
  readonly #withoutRoot: boolean;
  /** A block that has not come whole yet. */
  readonly #block = new Uint8Array(BLOCK_BYTES);
  #blockLength = 0;
  /** What is left of the content of the entry at hand, padding included, and what is done with it. */
  #contentLeft = 0;
  #content: "pass" | "drop" | "hold" = "drop";
  /** Extended headers that belong to the next entry. */
  #held: Bytes[] = [];
  /** Their types. */
  readonly #extensions = new Set<string>();
  #heldBytes = 0;
  #extension: { type: string; size: number; from: number } | undefined;
  #longName: string | undefined;
  #longLink: string | undefined;
  #pax = new Map<string, string>();
  readonly #names = new TarNames();
  #ended = false;

  constructor(observer: TarObserver = {}, { withoutRoot = false }: TarFilterOptions = {}) {
    [this.#observer, this.#withoutRoot] = [observer, withoutRoot];
  }

  /**
   * @returns What is to be passed on.
   * @throws {TarError} If it is no archive, or one that could do harm.
   */
  push(chunk: Bytes): Bytes[] {
    const out: Bytes[] = [];
    let rest = chunk;
    while (rest.length > 0 && !this.#ended) {
      if (this.#contentLeft > 0) {
        const part = rest.subarray(0, this.#contentLeft);
        rest = rest.subarray(part.length);
        this.#contentLeft -= part.length;
        if (this.#content === "pass") out.push(part);
        else if (this.#content === "hold") this.#hold(part.slice());
        if (this.#contentLeft === 0 && this.#extension !== undefined) this.#readExtension();
      } else {
        const part = rest.subarray(0, BLOCK_BYTES - this.#blockLength);
        rest = rest.subarray(part.length);
        this.#block.set(part, this.#blockLength);
        this.#blockLength += part.length;
        if (this.#blockLength === BLOCK_BYTES) {
          this.#blockLength = 0;
          this.#header(out);
        }
      }
    }
    return out;
  }

  /** @throws {TarError} If the archive has not come to its end. */
  end(): void {
    if (!this.#ended) throw new TarError("the archive broke off");
  }

  #header(out: Bytes[]): void {
    const block = this.#block.slice();
    if (block.every((byte) => byte === 0)) {
      this.#ended = true;
      // Two empty blocks are the end; what comes after them is padding, or none of our business.
      out.push(EMPTY_BLOCK, EMPTY_BLOCK);
      return;
    }
    const header = readHeader(block);
    if (header.type === PAX || header.type === LONG_NAME || header.type === LONG_LINK) {
      this.#requireNew(header.type);
      this.#extension = { type: header.type, size: header.size, from: this.#held.length + 1 };
      this.#hold(block);
      this.#begin("hold", header.size);
    } else if (header.type === GLOBAL_PAX) this.#begin("drop", header.size);
    else this.#entry(header, block, out);
  }

  #entry(header: TarHeader, block: Bytes, out: Bytes[]): void {
    const path = this.#pax.get("path") ?? this.#longName ?? header.name;
    // Sparse files of bsdtar have their names in a record of their own.
    const name = (header.type === FILE ? this.#pax.get("GNU.sparse.name") : undefined) ?? path;
    const target = this.#pax.get("linkpath") ?? this.#longLink ?? header.linkName;
    const size = sizeOf(header, this.#pax.get("size"));
    const held = this.#held;
    this.#forgetExtensions();
    if (![FILE, HARD_LINK, SYMBOLIC_LINK, DIRECTORY].includes(header.type) && !SPECIAL.has(header.type)) {
      throw new TarError(`the archive has an entry of an unknown kind, '${header.type}'`);
    }
    if (header.type === FILE ? name.endsWith("/") : size !== 0) {
      throw new TarError(`the archive is broken: '${shownName(name)}' cannot have content`);
    }
    if (SPECIAL.has(header.type)) {
      this.#observer.leftOut?.(shownName(name));
      return;
    }
    if (header.type === SYMBOLIC_LINK) this.#names.link(name);
    else if (header.type === HARD_LINK) this.#names.hardLink(name, target);
    else for (const one of new Set([name, path])) this.#names.entry(one);
    if (this.#withoutRoot && isRoot(name)) return;
    withoutSetId(block);
    out.push(...held, block);
    this.#observer.entry?.(shownName(name), header.type === DIRECTORY);
    this.#begin("pass", size);
  }

  #begin(content: "pass" | "drop" | "hold", size: number): void {
    if (!Number.isSafeInteger(size) || size < 0) throw new TarError("the archive is broken: a size cannot be");
    this.#content = content;
    this.#contentLeft = Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
    if (content === "hold" && size === 0) this.#readExtension();
  }

  #hold(part: Bytes): void {
    this.#heldBytes += part.length;
    if (this.#heldBytes > MAX_EXTENSION_BYTES) {
      throw new TarError(`the archive has an extended header of more than ${MAX_EXTENSION_BYTES} bytes`);
    }
    this.#held.push(part);
  }

  #readExtension(): void {
    const { type, size, from } = this.#extension!;
    this.#extension = undefined;
    const data = joined(this.#held.slice(from)).subarray(0, size);
    if (type === LONG_NAME) this.#longName = cString(data);
    else if (type === LONG_LINK) this.#longLink = cString(data);
    else for (const [key, value] of paxRecords(data)) this.#pax.set(key, value);
  }

  /** Which one counts of two that say the same is not the same for every tar. */
  #requireNew(type: string): void {
    if (this.#extensions.has(type) || (this.#extensions.size > 0 && (type === PAX || this.#extensions.has(PAX)))) {
      throw new TarError("the archive is broken: two extended headers say the same");
    }
    this.#extensions.add(type);
  }

  #forgetExtensions(): void {
    [this.#held, this.#heldBytes, this.#longName, this.#longLink] = [[], 0, undefined, undefined];
    this.#pax = new Map();
    this.#extensions.clear();
  }
}

/** @param pax What a pax record says of it. */
function sizeOf(header: TarHeader, pax: string | undefined): number {
  if (pax === undefined) return header.size;
  const size = /^\d{1,16}$/.test(pax) ? Number(pax) : NaN;
  // Where the header can say it, both have to say the same: not every tar reads the record.
  if (!(size > MAX_USTAR_SIZE || size === header.size)) throw new TarError("the archive is broken: a size cannot be");
  return size;
}

function joined(parts: readonly Bytes[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
