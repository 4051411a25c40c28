import { endWithUs } from "../../support/end_with_us.ts";
import type { User } from "./user.ts";

const PROGRAM = new URL("./bystander.pl", import.meta.url);

/** A process outside the sandbox that one attempt may aim at; see `bystander.pl`. */
export class Bystander implements AsyncDisposable {
  /** NAME=VALUE words about it that attempts are told. */
  readonly facts: Readonly<Record<string, string>>;
  readonly #child: Deno.ChildProcess;
  readonly #reader: LineReader;
  readonly #segment: string;

  private constructor(child: Deno.ChildProcess, reader: LineReader, ready: Readonly<Record<string, string>>) {
    [this.#child, this.#reader, this.#segment] = [child, reader, ready["segment"] ?? ""];
    this.facts = { ...ready, bystander: String(child.pid) };
  }

  /**
   * @param directory Where its sockets are.
   * @param sharedMemory Whether it makes a segment of shared memory.
   */
  static async start(
    { user, directory, name, secret, sharedMemory, victim }: {
      user: User;
      directory: string;
      name: string;
      secret: string;
      sharedMemory: boolean;
      victim: string;
    },
  ): Promise<Bystander> {
    const key = sharedMemory ? crypto.getRandomValues(new Uint32Array(1))[0]! >>> 1 | 1 : 0;
    const program = ["perl", "-e", await Deno.readTextFile(PROGRAM), "--"];
    const [command = "", ...args] = [
      ...user.prefix,
      ...program,
      directory,
      name,
      String(key),
      victim,
      Deno.build.arch,
    ];
    // Attempts read it where nothing confines them: nothing of the user's is in it.
    const env = { PATH: "/usr/bin:/bin", ESCAPE_SUITE_BYSTANDER: secret };
    const child = endWithUs(
      new Deno.Command(command, { args, clearEnv: true, env, stdin: "piped", stdout: "piped" }).spawn(),
    );
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(secret));
    writer.releaseLock();
    const reader = new LineReader(child.stdout);
    const ready = await reader.next() ?? "";
    if (!ready.startsWith("ready ")) {
      await Promise.all([child.stdin.close(), reader.rest(), child.status]);
      throw new Error(`the bystander did not start: ${ready}`);
    }
    const words = ready.split(" ").slice(1).map((word) => word.split("=") as [string, string]);
    return new Bystander(child, reader, { ...Object.fromEntries(words), key: String(key) });
  }

  /** Asks it what happened to it and ends it. */
  async end(): Promise<string[]> {
    await this.#child.stdin.close().catch(() => {}); // whoever is dead no longer reads
    const lines = await this.#reader.rest();
    const { signal } = await this.#child.status;
    if (this.#segment !== "") await new Deno.Command("ipcrm", { args: ["-m", this.#segment] }).output();
    const heard = lines.filter((line) => line.startsWith("heard ")).map((line) => `bystander: ${line.slice(6)}`);
    return lines.includes("over") ? heard : [...heard, `bystander: ended by ${signal ?? "itself"}`];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

class LineReader {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = "";

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** The next line; undefined: there is none. */
  async next(): Promise<string | undefined> {
    while (!this.#text.includes("\n")) {
      const { value, done } = await this.#reader.read();
      if (done) return undefined;
      this.#text += value;
    }
    const line = this.#text.slice(0, this.#text.indexOf("\n"));
    this.#text = this.#text.slice(line.length + 1);
    return line;
  }

  async rest(): Promise<string[]> {
    const lines: string[] = [];
    for (let line = await this.next(); line !== undefined; line = await this.next()) lines.push(line);
    return lines;
  }
}
