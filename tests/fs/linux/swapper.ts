import type { Scratch } from "../scratch.ts";

const PROGRAM = new URL("../../fixtures/swapper.ts", import.meta.url).pathname;

/** A process that swaps a directory of the scratch for a link to another one, and back, all the time. */
export class Swapper implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
  }

  /** Resolves when it has begun; `directory` need not be there yet, and may vanish. */
  static async start(scratch: Scratch, directory: string, target: string): Promise<Swapper> {
    const paths = [directory, target, "aside", "link"].map((name) => `${scratch.root}/${name}`);
    const args = ["run", "--no-check", "--no-config", "--allow-read", "--allow-write", PROGRAM, ...paths];
    const child = new Deno.Command(Deno.execPath(), { args, stdout: "piped" }).spawn();
    const reader = child.stdout.getReader();
    await reader.read();
    reader.releaseLock();
    return new Swapper(child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.stdout.cancel();
    await this.#child.status;
  }
}

/** Removes what is there, whatever the swapper does to it meanwhile. */
export function clear(scratch: Scratch, ...names: string[]): void {
  for (const name of names) {
    const path = `${scratch.root}/${name}`;
    while (exists(path)) {
      try {
        Deno.removeSync(path, { recursive: true });
      } catch {
        // It was not what it had been a moment before.
      }
    }
  }
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
