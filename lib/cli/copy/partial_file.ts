import { CopyError } from "./target.ts";
import { localSide } from "./local_side.ts";

/** What ends the names of our unfinished files, here and on the other side. */
export const PARTIAL_SUFFIX = ".exec-server-part";
/** Of a name, so that the whole stays within the 255 bytes that file systems take. */
const MAX_NAME_CHARS = 50;

/** A name beside the target for what is not finished yet: hidden, and recognisable as ours. */
export function partialName(name: string, key: string): string {
  return `.${[...name].slice(0, MAX_NAME_CHARS).join("")}.${key}${PARTIAL_SUFFIX}`;
}

/** 16 hexadecimal digits that nobody else has. */
export function randomKey(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 16);
}

/** 16 hexadecimal digits that are the same for the same values. */
export async function keyOf(...values: readonly unknown[]): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(values));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  return Array.from(digest.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * A local file that grows under a name of its own beside its target, and takes the target's name when it is whole. Its
 * name holds a key of what is copied into it, so that only the same content is ever continued.
 */
export class PartialFile implements AsyncDisposable {
  readonly path: string;
  readonly #target: string;
  readonly #file: Deno.FsFile;
  #length: number;
  #isSettled = false;

  private constructor(path: string, target: string, file: Deno.FsFile, length: number) {
    [this.path, this.#target, this.#file, this.#length] = [path, target, file, length];
  }

  /**
   * Opens what an earlier attempt left, or a new file. Leftovers of other content for the same target are removed.
   *
   * @param key Of the content; undefined: nothing is continued, now or later.
   * @throws {CopyError} If another process is at it.
   */
  static async open(target: string, name: string, key: string | undefined): Promise<PartialFile> {
    const directory = localSide.parent(target);
    const own = partialName(name, key ?? randomKey());
    await removeOthers(directory, name, own);
    const path = localSide.child(directory, own);
    await removeForeign(path);
    const file = await Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
    try {
      if (!await file.tryLock(true)) throw new CopyError(`${target} is being copied by another process just now`);
      const { size, ...opened } = await file.stat();
      const named = await Deno.lstat(path);
      // Whoever may write to the directory can have been quicker.
      if (!isOurs(named) || named.ino !== opened.ino || named.dev !== opened.dev) {
        throw new CopyError(`${path} is changed by somebody else; remove it`);
      }
      await file.seek(size, Deno.SeekMode.Start);
      return new PartialFile(path, target, file, size);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  get length(): number {
    return this.#length;
  }

  /** Begins anew. */
  async clear(): Promise<void> {
    await this.#file.truncate(0);
    await this.#file.seek(0, Deno.SeekMode.Start);
    this.#length = 0;
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      for (let rest = bytes; rest.length > 0;) {
        const written = await this.#file.write(rest);
        this.#length += written;
        rest = rest.subarray(written);
      }
    } catch (error) {
      throw new CopyError(`${this.#target}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }

  /** Gives it the target's name. @param mode Its permission bits; undefined: those of a new file. */
  async commit(mode: number | undefined): Promise<void> {
    if (Deno.build.os !== "windows") await Deno.chmod(this.path, mode ?? 0o666 & ~Deno.umask());
    // Windows renames no open file.
    this.#settle();
    try {
      await Deno.rename(this.path, this.#target);
    } catch (error) {
      await removeIfThere(this.path);
      throw error;
    }
  }

  /** Leaves it for a later attempt, unless there is nothing in it. */
  async keep(): Promise<void> {
    if (this.#length === 0) return await this[Symbol.asyncDispose]();
    this.#settle();
  }

  /** Removes it, unless it was committed or kept. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isSettled) return;
    this.#settle();
    await removeIfThere(this.path);
  }

  #settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#file.close();
  }
}

/**
 * Removes what has the name of an unfinished file and was not made by us: others can know the name, and a tree from the
 * other side can hold a link that has it.
 */
async function removeForeign(path: string): Promise<void> {
  try {
    if (!isOurs(await Deno.lstat(path))) await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** A plain file of ours that has no other name. */
function isOurs({ isFile, uid, nlink }: Deno.FileInfo): boolean {
  return isFile && (uid === null || uid === Deno.uid()) && (nlink === null || nlink === 1);
}

/** Removes unfinished files for the same target that hold other content, but for those that are being written. */
async function removeOthers(directory: string, name: string, own: string): Promise<void> {
  if ([...name].length > MAX_NAME_CHARS) return; // the name does not say which file it is for
  for await (const entry of Deno.readDir(directory)) {
    const key = entry.name.slice(name.length + 2, -PARTIAL_SUFFIX.length);
    if (entry.name === own || !entry.isFile || !/^[0-9a-f]{16}$/.test(key) || entry.name !== partialName(name, key)) {
      continue;
    }
    const path = localSide.child(directory, entry.name);
    try {
      using file = await Deno.open(path, { read: true, write: true });
      if (await file.tryLock(true)) await Deno.remove(path);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error; // whoever wrote it has finished
    }
  }
}

export async function removeIfThere(path: string, options?: Deno.RemoveOptions): Promise<void> {
  try {
    await Deno.remove(path, options);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
