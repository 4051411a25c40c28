/** The executable alone in a directory of its own, and an ordinary user who starts it in an environment that is empty. */
import { endWithUs } from "../support/end_with_us.ts";
import { type Members, WireClient } from "../support/wire_client.ts";
import { isRoot, SELF, type User } from "../sandbox/support/user.ts";
import { inTime } from "./eventually.ts";

/** The executable; undefined: the tests are about the sources. */
export const BINARY = Deno.env.get("EXEC_SERVER_BINARY");

/** A number that nothing else on the machine has, nor another run of the tests. */
const USER_ID = 70_000 + Deno.pid % 100_000;

/** As whom everything is started. */
export const USER: User = isRoot
  ? {
    name: "an ordinary user",
    uid: USER_ID,
    gid: USER_ID,
    prefix: ["setpriv", `--reuid=${USER_ID}`, `--regid=${USER_ID}`, "--clear-groups", "--"],
  }
  : SELF;

/** Who the user is where the mounts are his own. */
export const UID_WITH_MOUNTS = isRoot ? USER.uid : 0;

/** Where the user's servers keep their record of what sandboxes need. */
export const RECORD = `/tmp/exec-server-${USER.uid}`;

/** What a start becomes a part of that is to have mounts of its own. Who is not root has to be it there, and only there. */
const UNSHARE = ["unshare", "--mount", ...(isRoot ? [] : ["--user", "--map-root-user"]), "--", "/bin/sh", "-ec"];

/** Whether there can be such a view. */
export async function canUnshare(): Promise<boolean> {
  const [program = "", ...args] = UNSHARE;
  try {
    const test = [...args, "mount -t tmpfs none /tmp"];
    return (await new Deno.Command(program, { args: test, stdout: "null", stderr: "null" }).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

export interface Start {
  /** Default: `work`. */
  readonly cwd?: string;
  /** Default: the path of the executable. */
  readonly program?: string;
  /** What comes before the arguments. */
  readonly before?: readonly string[];
  /** The whole environment. Default: nothing. */
  readonly env?: Readonly<Record<string, string>>;
  /** Lines of a shell that arrange mounts that only this start sees. */
  readonly mounts?: string;
}

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class Box implements AsyncDisposable {
  /** Beside it lie `work`, which is the user's, and `locked`, which he cannot enter. */
  readonly binary: string;
  readonly work: string;
  readonly locked: string;

  private constructor(readonly root: string) {
    this.binary = `${root}/bin/exec-server`;
    this.work = `${root}/work`;
    this.locked = `${root}/locked`;
  }

  static async create(): Promise<Box> {
    // Not in /tmp, over which tests mount something.
    const box = new Box(await Deno.makeTempDir({ dir: "/var/tmp", prefix: "exec-server-box-" }));
    await Deno.chmod(box.root, 0o755);
    for (const path of [`${box.root}/bin`, box.work, box.locked]) await Deno.mkdir(path);
    await Deno.copyFile(BINARY!, box.binary);
    await Deno.chmod(box.binary, 0o755);
    if (isRoot) await Deno.chown(box.work, USER.uid, USER.gid);
    await Deno.chmod(box.locked, 0o700);
    return box;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
    if (!isRoot) return;
    await Deno.remove(RECORD, { recursive: true }).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error; // no sandbox was asked for
    });
  }

  /** Runs it to its end. */
  async run(args: readonly string[], start: Start = {}): Promise<Finished> {
    const command = new Deno.Command(...this.#command(args, start, "null"));
    const { code, stdout, stderr } = await inTime(`the end of ${args.join(" ")}`, endWithUs(command.spawn()).output());
    return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  }

  /** A server that talks to us on its standard streams; the handshake is done. */
  async serve(options: readonly string[] = [], start: Start = {}): Promise<Served> {
    const command = new Deno.Command(...this.#command(["--listen", "stdio", ...options], start, "piped"));
    const served = new Served(endWithUs(command.spawn()), this.work);
    try {
      await inTime("the handshake", served.client.initialize());
    } catch (error) {
      await served[Symbol.asyncDispose]();
      throw new Error(`it does not serve: ${served.stderr}`, { cause: error });
    }
    return served;
  }

  #command(args: readonly string[], start: Start, stdin: "null" | "piped"): [string, Deno.CommandOptions] {
    const { cwd = this.work, program = this.binary, before = [], env = {}, mounts } = start;
    const words = [...USER.prefix, program, ...before, ...args];
    const [first = "", ...rest] = mounts === undefined ? words : [...UNSHARE, `${mounts}\nexec "$@"`, "sh", ...words];
    return [first, { args: rest, cwd, env, clearEnv: true, stdin, stdout: "piped", stderr: "piped" }];
  }
}

/** What became of a program. */
export interface Outcome {
  readonly output: string;
  readonly exitCode: number;
  readonly sandboxType: unknown;
}

export class Served implements AsyncDisposable {
  readonly client: WireClient;
  stderr = "";
  readonly #heard = new Map<string, { output: string; exitCode: number; closed: PromiseWithResolvers<void> }>();
  readonly #stderrRead: Promise<void>;

  constructor(readonly child: Deno.ChildProcess, readonly work: string) {
    this.client = WireClient.overStdio(child);
    this.client.onNotification = (method, params) => this.#hear(method, params);
    this.#stderrRead = this.#readStderr();
  }

  /** Starts a program. @returns What it is known by. */
  async start(argv: readonly string[], more: Members = {}): Promise<{ id: string; sandboxType: unknown }> {
    const id = `process ${this.#heard.size}`;
    this.#heard.set(id, { output: "", exitCode: -1, closed: Promise.withResolvers() });
    const common = { processId: id, argv, cwd: `file://${this.work}`, env: { PATH: "/usr/bin:/bin" }, tty: false };
    const { sandboxType } = await this.client.request("process/start", { ...common, ...more });
    return { id, sandboxType };
  }

  /** Runs a program to its end. */
  async run(argv: readonly string[], more: Members = {}): Promise<Outcome> {
    const { id, sandboxType } = await this.start(argv, more);
    const heard = this.#heard.get(id)!;
    await inTime(`the end of ${argv.join(" ")}`, heard.closed.promise);
    return { output: heard.output, exitCode: heard.exitCode, sandboxType };
  }

  /** What a program has said so far. */
  outputOf(id: string): string {
    return this.#heard.get(id)!.output;
  }

  /** Ends the server in an orderly way. @returns Its exit code. */
  async end(): Promise<number> {
    this.client.endInput();
    const { code } = await inTime("the end of the server", this.child.status);
    await this.#stderrRead;
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.endInput();
    await this.client.ended;
    await this.child.status;
    await this.#stderrRead;
    await this.client[Symbol.asyncDispose]();
  }

  #hear(method: string, params: Members): void {
    const heard = this.#heard.get(params["processId"] as string)!;
    if (method === "process/output") heard.output += atob(params["chunk"] as string);
    if (method === "process/exited") heard.exitCode = params["exitCode"] as number;
    if (method === "process/closed") heard.closed.resolve();
  }

  async #readStderr(): Promise<void> {
    for await (const text of this.child.stderr.pipeThrough(new TextDecoderStream())) this.stderr += text;
  }
}
