/** A server that speaks the wire, as a user, with what attempts against itself aim at. */
import { RunningServer, type ServerCommand } from "../../program/running_server.ts";
import { type Members, type WireClient, WireError } from "../../support/wire_client.ts";
import type { User } from "./user.ts";

/** Becomes a command in a session of keys of its own, which has one; where there are no keys it just becomes it. */
function withKey(secret: string): string[] {
  const [KEYCTL, ADD_KEY] = Deno.build.arch === "aarch64" ? [219, 217] : [250, 248];
  const script = `my ($type, $name, $secret) = ("user", "escape-suite", shift);
    syscall(${KEYCTL}, 1, 0) > 0 and syscall(${ADD_KEY}, $type, $name, $secret, length $secret, -3); exec @ARGV;`;
  return ["perl", "-e", script, "--", secret];
}

/** How a program ended, and all that it said. */
export interface Ended {
  readonly exitCode: number | null;
  readonly output: string;
}

interface Running {
  output: string;
  exitCode: number | null;
  readonly decoder: TextDecoder;
  readonly closed: PromiseWithResolvers<void>;
}

export class EscapeServer implements AsyncDisposable {
  readonly #running = new Map<string, Running>();
  #count = 0;

  private constructor(
    private readonly server: RunningServer,
    private readonly client: WireClient,
    /** A file that the server has open as its descriptor 9. */
    readonly victim: string,
    /** Is in the server's environment. */
    readonly secret: string,
    /** Is in a key of the session that the server is in, whose description is "escape-suite". */
    readonly keySecret: string,
  ) {
    client.onNotification = (method, params) => this.#notified(method, params);
  }

  /** @param root A directory of the suite that the user can enter. */
  static async start(command: ServerCommand, user: User, root: string): Promise<EscapeServer> {
    const home = `${root}/home-${crypto.randomUUID()}`;
    const victim = `${home}/victim`;
    const [secret, keySecret] = [`secret-${crypto.randomUUID()}`, `secret-${crypto.randomUUID()}`];
    await Deno.mkdir(`${home}/tmp`, { recursive: true });
    await Deno.writeTextFile(victim, "");
    if (user.uid !== Deno.uid()) {
      for (const path of [home, `${home}/tmp`, victim]) await Deno.chown(path, user.uid, user.gid);
    }
    const env = [`HOME=${home}`, `CODEX_HOME=${home}`, `TMPDIR=${home}/tmp`, `ESCAPE_SUITE_SECRET=${secret}`];
    // A cache that another user has written cannot be used.
    if (user.uid !== Deno.uid()) env.push(`DENO_DIR=${home}/deno`);
    const script = 'exec 9>>"$1"; shift; exec "$@"';
    const server = await RunningServer.start({
      command: ["sh", "-c", script, "sh", victim, ...user.prefix, ...withKey(keySecret), "env", ...env, ...command],
    });
    try {
      const client = await server.connect();
      await client.initialize();
      return new EscapeServer(server, client, victim, secret, keySecret);
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  get pid(): number {
    return this.server.pid;
  }

  /** Runs a program until all its output has come. @throws {WireError} If it is not started. */
  async run(argv: readonly string[], cwd: string, sandbox: Members | null): Promise<Ended> {
    const processId = `p${++this.#count}`;
    const closed = Promise.withResolvers<void>();
    const running: Running = { output: "", exitCode: null, decoder: new TextDecoder(), closed };
    this.#running.set(processId, running);
    try {
      await this.client.request("process/start", {
        ...{ processId, argv, cwd: `file://${cwd}`, env: { PATH: "/usr/bin:/bin" }, tty: false, arg0: null },
        ...(sandbox === null ? {} : { sandbox }),
      });
      await Promise.race([closed.promise, this.client.ended.then(({ reason }) => Promise.reject(new Error(reason)))]);
      return { exitCode: running.exitCode, output: running.output };
    } finally {
      this.#running.delete(processId);
    }
  }

  /** @returns The answer or the error, with the bytes of a file as text, so that a secret in it can be seen. */
  async request(method: string, params: Members, sandbox: Members | null): Promise<string> {
    try {
      const result = await this.client.request(method, sandbox === null ? params : { ...params, sandbox });
      const data = result["dataBase64"];
      return typeof data === "string" ? atob(data) : JSON.stringify(result);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      return `${error.code} ${error.message}`;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }

  #notified(method: string, params: Members): void {
    const running = this.#running.get(params["processId"] as string);
    if (running === undefined) return;
    if (method === "process/output") {
      const chunk = Uint8Array.fromBase64(params["chunk"] as string);
      running.output += running.decoder.decode(chunk, { stream: true });
    } else if (method === "process/exited") running.exitCode = params["exitCode"] as number;
    else if (method === "process/closed") running.closed.resolve();
  }
}
