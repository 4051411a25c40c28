import { Inbox } from "./inbox.ts";
import { Program, type ProgramOptions } from "./program.ts";

/** A conversation with a server on its stdin and stdout, one message per line. */
export class StdioClient implements AsyncDisposable {
  readonly inbox = new Inbox();
  readonly program: Program;
  #line: Uint8Array[] = [];

  constructor(options: Omit<ProgramOptions, "stdin" | "onOutput">) {
    this.program = new Program({ ...options, stdin: "piped", onOutput: (bytes) => this.#take(bytes) });
    void this.program.stdout.then(() => {
      if (this.#line.length > 0) this.#finishLine();
      this.inbox.finish({ how: "eof", closeCode: null });
    });
  }

  /** Sends one line. */
  send(text: string): Promise<void> {
    return this.bytes(new TextEncoder().encode(text + "\n"));
  }

  bytes(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.program.write(bytes);
  }

  /** Ends the server's input. */
  drop(): Promise<void> {
    return this.program.closeInput();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program[Symbol.asyncDispose]();
  }

  #take(bytes: Uint8Array): void {
    this.inbox.bytes += bytes.length;
    let rest = bytes;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      this.#line.push(rest.slice(0, end));
      this.#finishLine();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) this.#line.push(rest.slice());
  }

  #finishLine(): void {
    const decoder = new TextDecoder();
    const text = this.#line.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
    this.#line = [];
    this.inbox.message(text);
  }
}
