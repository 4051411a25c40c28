/** `exec-server --remote` and `exec-server forward` as users start them, with nothing of the user's around them. */
import { isolated, OUR_PROGRAM } from "../relay/support/remote_program.ts";
import { Program } from "../wire/program.ts";
import { inTime } from "./eventually.ts";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RemoteChildOptions {
  readonly args: readonly string[];
  /** Besides those without which nothing runs; no credential is among them. */
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads first; its standard input stays open. Without it standard input is empty. */
  readonly input?: string;
  /** Files in its home: name → content. */
  readonly files?: Readonly<Record<string, string>>;
}

export class RemoteChild implements AsyncDisposable {
  readonly home: string;
  readonly program: Program;

  private constructor(home: string, program: Program) {
    [this.home, this.program] = [home, program];
  }

  static async start({ args, env = {}, input, files = {} }: RemoteChildOptions): Promise<RemoteChild> {
    const home = await Deno.makeTempDir({ prefix: "exec-server-remote-" });
    await Deno.mkdir(`${home}/tmp`);
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${home}/${name}`, text, { mode: 0o600 });
    }
    const stdin = input === undefined ? "null" : "piped";
    const words = [...OUR_PROGRAM, ...args];
    const child = new RemoteChild(home, new Program({ words, cwd: home, env: { ...isolated(home), ...env }, stdin }));
    if (input !== undefined) await child.write(input);
    return child;
  }

  async write(text: string): Promise<void> {
    await this.program.write(new TextEncoder().encode(text));
  }

  /** Its end, which must come by itself. */
  async ended(): Promise<Ended> {
    const { code } = await inTime("the end of the program", this.program.exited);
    return { code, stdout: await this.program.stdout, stderr: await this.program.stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program[Symbol.asyncDispose]();
    await Deno.remove(this.home, { recursive: true });
  }
}

/** Starts one that ends by itself. */
export async function runRemote(options: RemoteChildOptions): Promise<Ended> {
  await using child = await RemoteChild.start(options);
  return await child.ended();
}

/** Does something with each item, a few at a time: each starts a program. */
export async function someAtOnce<T>(
  items: readonly T[],
  act: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const rest = [...items.entries()];
  const worker = async () => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) await act(next[1], next[0]);
  };
  await Promise.all([worker(), worker(), worker()]);
}
