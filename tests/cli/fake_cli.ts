import type { TerminalSize } from "../../lib/client/process.ts";
import type { Cli, CliSignal, Input, Output } from "../../lib/cli/command.ts";
import { ReaderGoneError } from "../../lib/cli/command.ts";
import type { Clock } from "../../lib/clock.ts";
import { createLog, type Log, type LogLevel } from "../../lib/log.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** What a command wrote to one descriptor. */
export class FakeOutput implements Output {
  isTerminal = false;
  /** Nobody reads it: every write fails. */
  isGone = false;
  /** What a write waits for. */
  blocked: Promise<void> | undefined;
  text = "";
  readonly #decoder = new TextDecoder();

  async write(data: string | Uint8Array): Promise<void> {
    await this.blocked;
    if (this.isGone) throw new ReaderGoneError();
    this.text += typeof data === "string" ? data : this.#decoder.decode(data, { stream: true });
  }
}

/** What a command reads: pieces as a test gives them. */
export class FakeInput implements Input {
  isTerminal = false;
  /** How many calls of `read` there were. */
  reads = 0;
  readonly #pieces: (Uint8Array<ArrayBuffer> | null)[] = [];
  #waiting: ((piece: Uint8Array<ArrayBuffer> | null) => void) | undefined;

  give(text: string | null): void {
    const piece = text === null ? null : new TextEncoder().encode(text);
    if (this.#waiting === undefined) this.#pieces.push(piece);
    else {
      this.#waiting(piece);
      this.#waiting = undefined;
    }
  }

  read(): Promise<Uint8Array<ArrayBuffer> | null> {
    this.reads++;
    const piece = this.#pieces.shift();
    if (piece !== undefined) return Promise.resolve(piece);
    return new Promise((resolve) => this.#waiting = resolve);
  }
}

/** A world for a command that a test makes up. */
export class FakeCli implements Cli {
  readonly stdin = new FakeInput();
  readonly stdout = new FakeOutput();
  readonly stderr = new FakeOutput();
  readonly variables: Record<string, string> = {};
  readonly self = ["/nowhere/exec-server"] as const;
  size: TerminalSize | undefined;
  isRaw = false;
  readonly #listeners = new Map<CliSignal, Set<() => void>>();

  constructor(readonly clock: Clock = new ManualClock()) {}

  openLog(level: LogLevel): Promise<Log> {
    return Promise.resolve(createLog(level, (line) => void (this.stderr.text += line)));
  }

  env(name: string): string | undefined {
    return this.variables[name];
  }

  cwd(): string {
    return "/here";
  }

  time(): number {
    return 1_700_000_000_000;
  }

  onSignal(signal: CliSignal, act: () => void): Disposable {
    const listeners = this.#listeners.get(signal) ?? new Set();
    this.#listeners.set(signal, listeners.add(act));
    return { [Symbol.dispose]: () => listeners.delete(act) };
  }

  /** @returns Whether somebody listened. */
  signal(signal: CliSignal): boolean {
    const listeners = this.#listeners.get(signal) ?? [];
    for (const act of listeners) act();
    return [...listeners].length > 0;
  }

  /** Who hears of faults. */
  readonly faultListeners = new Set<(fault: unknown) => void>();

  onFault(act: (fault: unknown) => void): Disposable {
    this.faultListeners.add(act);
    return { [Symbol.dispose]: () => this.faultListeners.delete(act) };
  }

  terminalSize(): TerminalSize | undefined {
    return this.size;
  }

  rawMode(): Promise<Disposable> {
    this.isRaw = true;
    return Promise.resolve({ [Symbol.dispose]: () => void (this.isRaw = false) });
  }
}
