import { chooseCredential, type CredentialChoice } from "../../../lib/relay/credentials/choose.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { Stdin } from "./stdin_rig.ts";

/** What a credential is made of, all of it the test's: a home directory, variables, standard input, a network. */
export class World implements AsyncDisposable {
  readonly stdin: Stdin;
  readonly clock = new ManualClock();
  readonly warnings: string[] = [];
  readonly stop = new AbortController();
  readonly requested: string[] = [];
  readonly env: Record<string, string | undefined>;
  registry = "http://127.0.0.1:9/base";
  nowMs = 1_800_000_000_000;
  answer: (url: string) => Response = () => new Response(null, { status: 500 });

  private constructor(readonly home: string, stdin: string) {
    this.stdin = new Stdin(stdin);
    this.env = { HOME: home };
  }

  static async create(stdin = ""): Promise<World> {
    return new World(await Deno.makeTempDir(), stdin);
  }

  async writeAuthFile(json: unknown, directory = `${this.home}/.codex`): Promise<void> {
    await Deno.mkdir(directory, { recursive: true });
    await Deno.writeTextFile(`${directory}/auth.json`, typeof json === "string" ? json : JSON.stringify(json));
  }

  choose(choice: CredentialChoice) {
    return chooseCredential(choice, {
      registry: this.registry,
      environmentId: "env-x",
      env: (name) => this.env[name],
      stdin: this.stdin.lines,
      fetch: (url) => {
        this.requested.push(String(url));
        return Promise.resolve(this.answer(String(url)));
      },
      clock: this.clock,
      now: () => this.nowMs,
      warn: (message) => this.warnings.push(message),
      signal: this.stop.signal,
    });
  }

  async headers(choice: CredentialChoice): Promise<Readonly<Record<string, string>>> {
    return await (await this.choose(choice)).credential.headers(this.stop.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.home, { recursive: true });
  }
}
