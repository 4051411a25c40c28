/**
 * Our commands as a user runs them: the real program, with a home of its own, on pipes or on a real terminal.
 */
import { endWithUs } from "../support/end_with_us.ts";
import { Bench } from "../support/linux.ts";
import { ChildRecord, launchSpec } from "../support/child_record.ts";
import type { Child, TerminalSize } from "../../lib/process/child.ts";
import { inTime } from "./eventually.ts";

const PROJECT = new URL("../../", import.meta.url).pathname;

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** What it reads; default: nothing (the null device). */
  readonly input?: string | Uint8Array<ArrayBuffer>;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A user with a home and `exec-server` on the PATH. */
export class CommandLine implements AsyncDisposable {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;

  private constructor(home: string, denoDirectory: string) {
    this.home = home;
    this.env = {
      PATH: `${home}/bin:${Deno.env.get("PATH") ?? "/usr/bin:/bin"}`,
      HOME: home,
      CODEX_HOME: home,
      TMPDIR: `${home}/tmp`,
      DENO_DIR: denoDirectory,
      DENO_NO_UPDATE_CHECK: "1",
      NO_COLOR: "1",
      TERM: "xterm",
      // A prompt that no output contains.
      PS1: "@> ",
    };
  }

  static async create(): Promise<CommandLine> {
    const home = await Deno.makeTempDir({ prefix: "exec-server-cli-" });
    await Deno.mkdir(`${home}/tmp`);
    await Deno.mkdir(`${home}/bin`);
    const binary = Deno.env.get("EXEC_SERVER_BINARY");
    const words = binary ? `'${binary}'` : `'${Deno.execPath()}' run --quiet -A '${PROJECT}main.ts'`;
    const script = `#!/bin/sh\nexec ${words} "$@"\n`;
    await Deno.writeTextFile(`${home}/bin/exec-server`, script, { mode: 0o755 });
    return new CommandLine(home, await denoDirectory());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.home, { recursive: true });
  }

  /** A command with pipes; its stdin is open. */
  spawn(argv: readonly string[], { env = {}, cwd = this.home }: RunOptions = {}): Deno.ChildProcess {
    const command = new Deno.Command(`${this.home}/bin/exec-server`, {
      args: [...argv],
      cwd,
      clearEnv: true,
      env: { ...this.env, ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    });
    return endWithUs(command.spawn());
  }

  /** Runs a command to its end. */
  run(argv: readonly string[], options: RunOptions = {}): Promise<Finished> {
    return this.#run(`${this.home}/bin/exec-server`, argv, options);
  }

  /** Runs a line of a shell to its end. */
  shell(script: string, options: RunOptions = {}): Promise<Finished> {
    return this.#run("/bin/sh", ["-c", script], options);
  }

  async #run(program: string, argv: readonly string[], options: RunOptions): Promise<Finished> {
    const { input, env = {}, cwd = this.home } = options;
    const command = new Deno.Command(program, {
      args: [...argv],
      cwd,
      clearEnv: true,
      env: { ...this.env, ...env },
      stdin: input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    });
    const child = endWithUs(command.spawn());
    const fed = input === undefined ? undefined : feed(child.stdin, input);
    const { code, stdout, stderr } = await inTime(`the end of ${program} ${argv.join(" ")}`, child.output());
    await fed;
    return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  }

  /** A shell on a terminal. */
  terminal(size: TerminalSize = { rows: 24, columns: 80 }): Terminal {
    return new Terminal(this, size);
  }
}

async function feed(stdin: WritableStream<Uint8Array>, input: string | Uint8Array<ArrayBuffer>): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(typeof input === "string" ? new TextEncoder().encode(input) : input);
    await writer.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error; // it does not read to the end
  }
}

/** A terminal with a shell on it, as a user has it in a window. */
export class Terminal implements AsyncDisposable {
  readonly #bench = new Bench();
  readonly #record = new ChildRecord();
  readonly #child: Child;
  #seen = 0;

  constructor({ home, env }: CommandLine, size: TerminalSize) {
    const spec = launchSpec(["/bin/sh", "-i"], {
      tty: true,
      terminalSize: size,
      cwd: new TextEncoder().encode(home),
      env: new Map(Object.entries(env)),
    });
    this.#child = this.#bench.backend.launch(spec, this.#record);
  }

  /** All that it ever showed. */
  get text(): string {
    return this.#record.text("pty");
  }

  async type(keys: string | Uint8Array<ArrayBuffer>): Promise<void> {
    const bytes = typeof keys === "string" ? new TextEncoder().encode(keys) : keys;
    await inTime("room for what is typed", this.#child.write(bytes, new AbortController().signal) ?? Promise.resolve());
  }

  resize(size: TerminalSize): void {
    this.#child.resize(size);
  }

  /** Waits until this is shown, after what was waited for before. @returns What was shown up to it. */
  async shows(text: string | RegExp): Promise<string> {
    const find = () => {
      const rest = this.text.slice(this.#seen);
      if (typeof text === "string") {
        const at = rest.indexOf(text);
        return at < 0 ? undefined : { before: rest.slice(0, at), length: at + text.length };
      }
      const match = rest.match(text);
      return match === null
        ? undefined
        : { before: rest.slice(0, match.index), length: match.index! + match[0].length };
    };
    const found = () => find() !== undefined;
    try {
      await inTime(`${text} on the terminal`, this.#record.until(found));
    } catch (error) {
      throw new Error(`${(error as Error).message}; it shows: ${JSON.stringify(this.text.slice(this.#seen))}`);
    }
    const { before, length } = find()!;
    this.#seen += length;
    return before;
  }

  /** Types a line for the shell and waits for its prompt. @returns What it showed. */
  async does(line: string): Promise<string> {
    await this.type(line + "\n");
    // The echo of the line comes first.
    await this.shows("\n");
    return (await this.shows("@> ")).replaceAll("\r\n", "\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.terminate();
    await this.#record.end();
    await this.#bench[Symbol.asyncDispose]();
  }
}

async function denoDirectory(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"], stderr: "null" }).output();
  return (JSON.parse(new TextDecoder().decode(stdout)) as { denoDir: string }).denoDir;
}
