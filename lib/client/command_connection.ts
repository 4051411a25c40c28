import type { Connection, Receiver } from "../rpc/connection.ts";
import { type ByteSink, type ByteSource, type StdioConnection, stdioConnection } from "../rpc/stdio.ts";

/** The pipes of a command. */
export interface CommandPipes {
  readonly stdout: ByteSource;
  readonly stdin: ByteSink;
  closeStdin(): void;
}

/** Lines over a command's pipes. However the connection ends, the command ends with it. */
export class CommandConnection implements Connection {
  readonly #lines: StdioConnection;
  readonly #pipes: CommandPipes;
  readonly #endCommand: () => void;

  /** @param options `end` is to end the command; it is called once. */
  constructor(pipes: CommandPipes, options: { readonly label: string; readonly end: () => void }) {
    this.#lines = stdioConnection(pipes.stdout, pipes.stdin, options.label);
    this.#pipes = pipes;
    this.#endCommand = options.end;
  }

  get label(): string {
    return this.#lines.label;
  }

  get malformedPrefix(): string {
    return this.#lines.malformedPrefix;
  }

  get sharing(): boolean {
    return this.#lines.sharing;
  }

  set sharing(sharing: boolean) {
    this.#lines.sharing = sharing;
  }

  get congested(): boolean {
    return this.#lines.congested;
  }

  start(receiver: Receiver): void {
    this.#lines.start({
      message: (message) => receiver.message(message),
      ended: (end) => {
        this.#end();
        receiver.ended(end);
      },
    });
  }

  send(message: string): void {
    this.#lines.send(message);
  }

  drained(): Promise<void> {
    return this.#lines.drained();
  }

  close(code?: number, reason?: string): void {
    this.#lines.close(code, reason);
    // Nobody was told of the end if nobody had listened yet.
    this.#end();
  }

  #end(): void {
    void this.#lines.flushed().then(() => this.#pipes.closeStdin());
    this.#endCommand();
  }
}
