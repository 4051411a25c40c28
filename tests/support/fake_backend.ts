import type {
  Child,
  ChildEvents,
  LaunchSpec,
  ProcessBackend,
  StreamName,
  TerminalSize,
} from "../../lib/process/child.ts";
import type { Enforcement } from "../../lib/sandbox/sandbox.ts";
import type { SignalName } from "../../lib/process/signal_name.ts";

/** A program that does what a test says. */
export class FakeChild implements Child {
  readonly pid = 4242;
  /** What was done to it, in order. */
  readonly calls: string[] = [];
  /** What was written to it, as text. */
  readonly written: string[] = [];
  /** Writes that wait for room, oldest first. */
  readonly waiting: { readonly text: string; admit(): void }[] = [];
  /** Whether the next write finds no room. */
  full = false;
  #disposed = false;

  constructor(readonly events: ChildEvents) {}

  /** Says something; whether it may go on. */
  say(text: string, stream: StreamName = "stdout"): boolean {
    return this.events.output(stream, new TextEncoder().encode(text));
  }

  exit(code: number, signal: string | null = null): void {
    this.events.exited(code, signal);
  }

  close(): void {
    this.events.closed();
  }

  write(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> | undefined {
    const text = new TextDecoder().decode(bytes);
    if (!this.full) {
      this.written.push(text);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.splice(this.waiting.indexOf(entry), 1);
        signal.removeEventListener("abort", onAbort);
      };
      const entry = {
        text,
        admit: (): void => {
          leave();
          this.written.push(text);
          resolve();
        },
      };
      const onAbort = (): void => {
        leave();
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort);
      this.waiting.push(entry);
    });
  }

  closeStdin(): void {
    this.calls.push("closeStdin");
  }

  resize({ rows, columns }: TerminalSize): void {
    this.calls.push(`resize ${rows}x${columns}`);
  }

  resume(): void {
    this.calls.push("resume");
  }

  signal(signal: SignalName): boolean {
    this.calls.push(signal);
    return true;
  }

  terminate(): void {
    this.calls.push("terminate");
  }

  killGroup(): void {
    this.calls.push("killGroup");
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.calls.push("dispose");
  }
}

/** Launches {@linkcode FakeChild}ren, at once or when a test says so. */
export class FakeBackend implements ProcessBackend {
  readonly name = "fake";
  readonly children: FakeChild[] = [];
  readonly specs: LaunchSpec[] = [];
  /** What confined the programs that were to be confined. */
  readonly enforcements: Enforcement[] = [];
  /** Thrown by the next launches. */
  failure: Error | null = null;
  /** Whether launches wait for `finish`. */
  slow = false;
  readonly #launching: (() => void)[] = [];

  /** The newest child. */
  get child(): FakeChild {
    const child = this.children.at(-1);
    if (child === undefined) throw new Error("nothing has been launched");
    return child;
  }

  launch(spec: LaunchSpec, events: ChildEvents): Child | Promise<Child> {
    this.specs.push(spec);
    if (!this.slow) return this.#launch(events);
    return new Promise((resolve, reject) => {
      this.#launching.push(() => {
        try {
          resolve(this.#launch(events));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  async launchConfined(spec: LaunchSpec, enforcement: Enforcement, events: ChildEvents): Promise<Child> {
    this.enforcements.push(enforcement);
    return await this.launch(spec, events);
  }

  /** Lets the oldest slow launch come to its end; resolves when everybody has heard of it. */
  async finish(): Promise<void> {
    this.#launching.shift()?.();
    await new Promise((resolve) => setTimeout(resolve, 0));
  }

  #launch(events: ChildEvents): FakeChild {
    if (this.failure !== null) throw this.failure;
    const child = new FakeChild(events);
    this.children.push(child);
    return child;
  }
}
