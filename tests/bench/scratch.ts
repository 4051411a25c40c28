/** Files and directories for one part of the bench, below the directory for temporary files. */
import { statfsSync } from "node:fs";

/** How often it is tried to remove a directory in which a server that was told to end still makes files. */
const ATTEMPTS = 50;
const BETWEEN_ATTEMPTS_MS = 100;

export class Scratch implements AsyncDisposable {
  private constructor(readonly directory: string) {}

  static async make(): Promise<Scratch> {
    return new Scratch(await Deno.realPath(await Deno.makeTempDir()));
  }

  path(name: string): string {
    return `${this.directory}/${name}`;
  }

  uri(name: string): string {
    return `file://${encodeURI(this.path(name))}`;
  }

  /** Whether there is room for `bytes` more; if not, `say` is told. */
  hasRoom(bytes: number, what: string, say: (text: string) => void): boolean {
    const { bavail, bsize } = statfsSync(this.directory);
    const free = bavail * bsize;
    if (free >= bytes) return true;
    const gigabytes = (count: number) => (count / 1e9).toFixed(1);
    say(`${what} left out: ${gigabytes(bytes)} GB needed in ${this.directory}, ${gigabytes(free)} GB free`);
    return false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.directory, { recursive: true });
  }
}

/**
 * Removes a directory at the sudden end of a run, when nothing can be awaited any more. Servers that write there must
 * have been told to end.
 */
export function removeAtOnce(directory: string): void {
  for (let attempt = 1;; attempt++) {
    try {
      return Deno.removeSync(directory, { recursive: true });
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return;
      if (attempt === ATTEMPTS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN_ATTEMPTS_MS);
    }
  }
}
