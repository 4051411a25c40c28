/**
 * The real program as a child of a test: with a home and a temporary directory of its own, so that it neither reads nor
 * writes what belongs to the user, and gone when the scope ends.
 */
import { endWithUs } from "../support/end_with_us.ts";
import { WireClient } from "../support/wire_client.ts";

const PROJECT = new URL("../../", import.meta.url).pathname;

/** How long a server may take to leave after SIGTERM before the end of its scope kills it. */
const GRACE_MS = 10_000;
/** How much of the newest stderr is kept for the report of a failure, in characters. */
const KEPT_STDERR_CHARS = 16_384;

/** A program and its arguments, up to and without `--listen`. */
export type ServerCommand = readonly [string, ...string[]];

const BINARY = Deno.env.get("EXEC_SERVER_BINARY");
/** Whether ours is an executable, and not run from the source. */
export const IS_EXECUTABLE = Boolean(BINARY);

/**
 * The server as users start it: `deno run -A main.ts`, without the wrapper that is `deno task`, or the executable that
 * `EXEC_SERVER_BINARY` names with an absolute path.
 */
export const OUR_COMMAND: ServerCommand = BINARY ? [BINARY] : [Deno.execPath(), "run", "-A", "main.ts"];

/**
 * What the tests run: ours, or what `EXEC_SERVER_UNDER_TEST` names, words separated by blanks. (Not every test here
 * passes against another server: some ask for what only ours promises.)
 */
export function commandUnderTest(): ServerCommand {
  const words = (Deno.env.get("EXEC_SERVER_UNDER_TEST") ?? "").split(" ").filter((word) => word !== "");
  return words.length > 0 ? words as [string, ...string[]] : OUR_COMMAND;
}

export interface StartOptions {
  readonly command?: ServerCommand;
  readonly listen?: "ws" | "stdio";
  /** Further arguments, after `--listen`. */
  readonly options?: readonly string[];
}

export class RunningServer implements AsyncDisposable {
  readonly child: Deno.ChildProcess;
  readonly listen: "ws" | "stdio";
  /** `ws://IP:PORT`; empty with stdio. */
  url = "";
  /** When the launch began, on the clock of `performance.now()`. */
  readonly launchedAt: number;
  /** Milliseconds from the launch to the URL on stdout; 0 with stdio. */
  startedInMs = 0;

  static readonly #running = new Set<RunningServer>();

  readonly #home: string;
  readonly #stderrRead: Promise<void>;
  #stderr = "";
  #stdout: ReadableStreamDefaultReader<Uint8Array> | null = null;

  private constructor(child: Deno.ChildProcess, listen: "ws" | "stdio", home: string, launchedAt: number) {
    [this.child, this.listen, this.#home, this.launchedAt] = [child, listen, home, launchedAt];
    this.#stderrRead = this.#readStderr();
    RunningServer.#running.add(this);
  }

  /** For the sudden end of whoever started them: SIGTERM to every server that runs, and no waiting. */
  static endAll(): void {
    for (const { child } of RunningServer.#running) signalIfAlive(child, "SIGTERM");
  }

  /**
   * Starts a server and waits until it can be reached.
   *
   * @throws {Error} With what it said on stderr, if it ends before it prints its URL.
   */
  static async start(
    { command = commandUnderTest(), listen = "ws", options = [] }: StartOptions = {},
  ): Promise<RunningServer> {
    const home = await Deno.makeTempDir({ prefix: "exec-server-test-" });
    await Deno.mkdir(`${home}/tmp`);
    const launchedAt = performance.now();
    const launch = new Deno.Command(command[0], {
      args: [...command.slice(1), "--listen", listen === "ws" ? "ws://127.0.0.1:0" : "stdio", ...options],
      cwd: PROJECT,
      clearEnv: true,
      env: { ...environment, HOME: home, CODEX_HOME: home, TMPDIR: `${home}/tmp` },
      stdin: listen === "ws" ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    });
    const child = endWithUs(launch.spawn());
    const server = new RunningServer(child, listen, home, launchedAt);
    if (listen === "stdio") return server;
    server.url = await server.#firstLine();
    server.startedInMs = performance.now() - launchedAt;
    if (server.url.startsWith("ws://")) return server;
    await server[Symbol.asyncDispose]();
    throw new Error(`${command.join(" ")} did not print its URL; stderr: ${server.stderr}`);
  }

  get pid(): number {
    return this.child.pid;
  }

  /** The end of what it wrote to stderr so far. */
  get stderr(): string {
    return this.#stderr;
  }

  /** A client whose handshake is still to be made; with stdio there is only one, and it owns the pipes. */
  async connect(): Promise<WireClient> {
    return this.listen === "stdio" ? WireClient.overStdio(this.child) : await WireClient.connect(this.url);
  }

  /** SIGTERM, and SIGKILL to what does not leave; also when it has ended already. Tells what a crash left on stderr. */
  async [Symbol.asyncDispose](): Promise<void> {
    const crashed = await Promise.race([
      this.child.status.then(({ code, signal }) => code !== 0 && signal === null),
      false,
    ]);
    const force = setTimeout(() => signalIfAlive(this.child, "SIGKILL"), GRACE_MS);
    signalIfAlive(this.child, "SIGTERM");
    await this.child.status;
    clearTimeout(force);
    await this.#stdout?.cancel();
    if (this.listen === "stdio" && !this.child.stdout.locked) {
      await Promise.all([this.child.stdin.close(), this.child.stdout.cancel()]);
    }
    await this.#stderrRead;
    if (crashed) console.error(`the server ended by itself; stderr: ${this.stderr}`);
    await Deno.remove(this.#home, { recursive: true });
    RunningServer.#running.delete(this);
  }

  async #firstLine(): Promise<string> {
    this.#stdout = this.child.stdout.getReader();
    const decoder = new TextDecoder();
    for (let text = "";;) {
      const { value, done } = await this.#stdout.read();
      if (done) return text;
      text += decoder.decode(value, { stream: true });
      if (text.includes("\n")) return text.slice(0, text.indexOf("\n"));
    }
  }

  async #readStderr(): Promise<void> {
    for await (const text of this.child.stderr.pipeThrough(new TextDecoderStream())) {
      this.#stderr = (this.#stderr + text).slice(-KEPT_STDERR_CHARS);
    }
  }
}

/** Sends a signal, unless the child's end is known already. */
export function signalIfAlive(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch (error) {
    // Deno throws a TypeError for a child whose end it has already seen.
    if (!(error instanceof TypeError) && !(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** What every server gets: no variable of the user's but PATH, and Deno's warm cache in spite of the other HOME. */
const environment: Readonly<Record<string, string>> = {
  PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
  DENO_DIR: await denoDirectory(),
  DENO_NO_UPDATE_CHECK: "1",
  NO_COLOR: "1",
};

async function denoDirectory(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"], stderr: "null" }).output();
  return (JSON.parse(new TextDecoder().decode(stdout)) as { denoDir: string }).denoDir;
}
