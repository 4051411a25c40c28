import type { ReadResult } from "../protocol/process.ts";
import type { CallOptions } from "./calls.ts";
import type { ProcessExit, TerminalSize } from "./process.ts";

/** What to read of what is remembered of a process's output. */
export interface ReadQuery {
  readonly afterSeq: number;
  /** Null: no bound but what is remembered. */
  readonly maxBytes: number | null;
  readonly waitMs: number;
}

/** What can be done to one process, whoever runs it: a server, or this very program. */
export interface ProcessPort {
  /** @throws {ClientError} It has no input, or is unknown, or ended. */
  write(bytes: Uint8Array<ArrayBuffer>, options?: CallOptions): Promise<void>;
  closeStdin(options?: CallOptions): Promise<void>;
  interrupt(options?: CallOptions): Promise<void>;
  signal(name: string, options?: CallOptions): Promise<void>;
  resize(size: TerminalSize, options?: CallOptions): Promise<void>;
  /** @returns Whether it was running. */
  terminate(options?: CallOptions): Promise<boolean>;
  /** The same for certain, where a single try may be lost on its way. */
  kill?(): Promise<boolean>;
  read(query: ReadQuery, options?: CallOptions): Promise<ReadResult>;
  /** What is known of an exit besides its code. Asked once, for an exit that was not a success. It must not reject. */
  end?(): Promise<ExitDetails>;
  /** Asks that the program be held while its output is not read, or no longer. It must not throw. */
  hold?(on: boolean): void;
  /** The process is of no interest any more: nothing more is published. Harmless when repeated. */
  release(): void;
}

export type ExitDetails = Partial<Pick<ProcessExit, "signal" | "reason" | "sandboxDenied">>;
