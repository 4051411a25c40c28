import { eventually, processes } from "./linux.ts";

const FIXTURE = new URL("../fixtures/linux_server.ts", import.meta.url).pathname;

/** A server of its own process; see `tests/fixtures/linux_server.ts`. */
export class LinuxServer implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>;
  readonly #readingErrors: Promise<void>;
  /** What it printed. */
  readonly lines: string[] = [];
  /** What it said on stderr. */
  errors = "";

  /** @param prefix Command and arguments in front of `deno`. */
  constructor(prefix: string[] = []) {
    const [program = "", ...args] = [...prefix, Deno.execPath(), "run", "-A", FIXTURE];
    this.#process = new Deno.Command(program, { args, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
    this.#stdin = this.#process.stdin.getWriter();
    this.#reading = this.#read(this.#process.stdout, (text) => this.lines.push(...text.split("\n").filter(Boolean)));
    this.#readingErrors = this.#read(this.#process.stderr, (text) => this.errors += text);
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Its children, among which the watchdog is. */
  children(): number[] {
    return [...processes()].filter(([, [, parent]]) => parent === String(this.pid)).map(([pid]) => pid);
  }

  /** Launches a program and waits until it has said something: its process id. */
  async launch(kind: "pipes" | "terminal", script: string): Promise<number> {
    const count = this.lines.length;
    await this.#stdin.write(new TextEncoder().encode(`${kind} ${script}\n`));
    const started = () => this.lines.slice(count).find((line) => line.startsWith("started "));
    await eventually("a program has started and speaks", () => {
      const pid = started()?.split(" ")[1];
      return pid !== undefined && this.lines.some((line) => line.startsWith(`output ${pid} `));
    }, 10_000);
    return Number(started()!.split(" ")[1]);
  }

  /** The second half of what a program printed. */
  outputOf(pid: number): string {
    return this.lines.find((line) => line.startsWith(`output ${pid} `))!.split(" ").slice(2).join(" ");
  }

  kill(signal: Deno.Signal): void {
    this.#process.kill(signal);
  }

  /** Ends it in an orderly way if it still lives, and waits for its end. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stdin.close().catch(() => {}); // it may be gone
    await this.#process.status;
    await Promise.all([this.#reading, this.#readingErrors]);
  }

  async #read(stream: ReadableStream<Uint8Array<ArrayBuffer>>, heard: (text: string) => void): Promise<void> {
    let rest = "";
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      const end = (rest + text).lastIndexOf("\n") + 1;
      heard((rest + text).slice(0, end));
      rest = (rest + text).slice(end);
    }
  }
}
