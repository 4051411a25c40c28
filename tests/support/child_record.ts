import type { ChildEvents, LaunchSpec, StreamName } from "../../lib/process/child.ts";

/** Remembers what a child did, and lets a test wait for it. */
export class ChildRecord implements ChildEvents {
  /** Everything in order; consecutive output of one stream is one entry: `stdout:text`, `exited 3`, `closed`. */
  readonly events: string[] = [];
  /** What `output` answers. */
  accept = true;
  /** Bytes heard, of all streams. */
  byteCount = 0;
  /** The signal that ended it; undefined before. */
  signal: string | null | undefined;
  readonly #decoder = new TextDecoder();
  #waiting: { ready(): boolean; resolve(): void }[] = [];

  output(stream: StreamName, bytes: Uint8Array<ArrayBuffer>): boolean {
    const text = this.#decoder.decode(bytes);
    this.byteCount += bytes.length;
    const last = this.events.at(-1);
    if (last?.startsWith(`${stream}:`)) this.events[this.events.length - 1] = last + text;
    else this.events.push(`${stream}:${text}`);
    this.#wake();
    return this.accept;
  }

  exited(exitCode: number, signal: string | null): void {
    this.signal = signal;
    this.events.push(`exited ${exitCode}`);
    this.#wake();
  }

  closed(): void {
    this.events.push("closed");
    this.#wake();
  }

  /** What one stream said. */
  text(stream: StreamName): string {
    const prefix = `${stream}:`;
    return this.events.filter((event) => event.startsWith(prefix)).map((event) => event.slice(prefix.length)).join("");
  }

  /** Resolves when `ready` is true, which is looked at after every event. */
  until(ready: () => boolean): Promise<void> {
    if (ready()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ ready, resolve }));
  }

  /** Resolves when the program has said this. */
  says(text: string): Promise<void> {
    return this.until(() => this.events.some((event) => event.includes(text)));
  }

  /** Resolves with all events when the child is closed. */
  async end(): Promise<string[]> {
    await this.until(() => this.events.includes("closed"));
    return this.events;
  }

  #wake(): void {
    this.#waiting = this.#waiting.filter(({ ready, resolve }) => {
      if (!ready()) return true;
      resolve();
      return false;
    });
  }
}

/** What to launch, with a PATH and no other variables, on pipes without stdin, in the root directory. */
export function launchSpec(argv: string[], more: Partial<LaunchSpec> = {}): LaunchSpec {
  return {
    argv,
    arg0: null,
    cwd: new TextEncoder().encode("/"),
    env: new Map([["PATH", "/usr/bin:/bin"]]),
    tty: false,
    pipeStdin: false,
    ...more,
  };
}
