import { endWithUs } from "../support/end_with_us.ts";
import { DEADLINE_MS, within } from "./deadline.ts";
import { Mismatch, show } from "./mismatch.ts";

export interface ProgramOptions {
  /** The program and all its arguments. */
  readonly words: readonly string[];
  readonly cwd: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: "null" | "piped";
  /** Called with each piece of stdout. */
  readonly onOutput?: (bytes: Uint8Array) => void;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** How much of stderr is kept for a reader, in bytes; the rest is dropped. */
const KEPT_STDERR_BYTES = 256 * 1024;

/** A server program that was started for a test and does not outlive it. */
export class Program implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>> | null;
  readonly #output: Promise<string>;
  readonly #errors: Promise<string>;
  readonly exited: Promise<Exit>;
  running = true;

  constructor({ words, cwd, env, stdin, onOutput }: ProgramOptions) {
    const [program, ...args] = words;
    if (program === undefined) throw new Error("the command is empty");
    const command = new Deno.Command(program, {
      args,
      cwd,
      env,
      clearEnv: true,
      stdin,
      stdout: "piped",
      stderr: "piped",
    });
    this.#child = endWithUs(command.spawn());
    this.#input = stdin === "piped" ? this.#child.stdin.getWriter() : null;
    this.#output = collect(this.#child.stdout, onOutput);
    this.#errors = collect(this.#child.stderr);
    this.exited = this.#exit();
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Everything on stdout, once it has exited. */
  get stdout(): Promise<string> {
    return this.#output;
  }

  /** The beginning of stderr, once it has exited. */
  get stderr(): Promise<string> {
    return this.#errors;
  }

  /** Writes to stdin; what a program that has gone cannot take is dropped. */
  async write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    try {
      await this.#input!.write(bytes);
    } catch (error) {
      if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
    }
  }

  /** Ends stdin; harmless when it has ended. */
  async closeInput(): Promise<void> {
    await this.#input?.close().catch(() => {}); // rejects when the program has closed it first
  }

  signal(name: Deno.Signal): void {
    if (!this.running) return;
    try {
      this.#child.kill(name);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it ended a moment ago
    }
  }

  /** Asks it to end, then forces it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.closeInput();
    this.signal("SIGTERM");
    try {
      await within(this.exited, "exit after SIGTERM", DEADLINE_MS / 3);
    } catch (error) {
      this.signal("SIGKILL");
      await this.exited;
      throw error;
    } finally {
      await Promise.all([this.#output, this.#errors]);
    }
  }

  async #exit(): Promise<Exit> {
    const { code, signal } = await this.#child.status;
    this.running = false;
    return signal === null ? { code, signal } : { code: null, signal };
  }
}

/** Waits for the one line that says where the server listens. */
export class Announcement {
  #text = "";
  readonly #line = Promise.withResolvers<string>();

  /** To be handed to the program as `onOutput`. */
  readonly take = (bytes: Uint8Array): void => {
    this.#text += new TextDecoder().decode(bytes);
    const end = this.#text.indexOf("\n");
    if (end !== -1) this.#line.resolve(this.#text.slice(0, end));
  };

  /** @throws {Mismatch} If the program ends without a line. */
  async of(program: Program): Promise<string> {
    const gone = program.exited.then(async (exit) => {
      throw new Mismatch(`the server ended (${show(exit)}) without a line on stdout: ${show(await program.stderr)}`);
    });
    return await within(Promise.race([this.#line.promise, gone]), "line on stdout");
  }
}

async function collect(stream: ReadableStream<Uint8Array>, onOutput?: (bytes: Uint8Array) => void): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) {
    onOutput?.(bytes);
    if (text.length < KEPT_STDERR_BYTES) text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}
