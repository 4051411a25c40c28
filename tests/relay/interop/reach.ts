/** How the Codex CLI, as a harness, reaches a server through the relay. */
import type { Reach } from "../../codex/codex_run.ts";
import { serverEnvironment } from "../../codex/configuration.ts";
import { Announcement, Program } from "../../wire/program.ts";
import { API_KEY } from "../support/remote_program.ts";
import { TestWorld } from "../support/world.ts";

const ENVIRONMENT_ID = "environment-of-tests";

export interface ThroughRelay {
  /** The server: a command without `--remote` and without `--listen`, with absolute paths. */
  readonly server: readonly string[];
  /** Its own executor, or its forwarder in front of its listener. */
  readonly role: "executor" | "forward";
  /** Called when the executor has connected. */
  readonly prepare?: (world: TestWorld) => void;
}

export class RelayReach {
  /** What the harness and the executor asked the registry, in order, by the last words of the paths. */
  readonly asked: string[] = [];
  readonly #through: ThroughRelay;

  constructor(through: ThroughRelay) {
    this.#through = through;
  }

  readonly reach: Reach = async (stage, resources) => {
    const { server, role, prepare } = this.#through;
    const world = resources.use(TestWorld.start());
    resources.defer(() => void this.asked.push(...world.registry.requests.map(({ route }) => route)));
    const env = { ...serverEnvironment(stage, "ws"), ...NO_WAY_OUT, CODEX_API_KEY: API_KEY };
    const remote = ["--remote", world.registryUrl, "--environment-id", ENVIRONMENT_ID];
    const start = (args: readonly string[], onOutput?: (bytes: Uint8Array) => void) => {
      const words = [...server, ...args];
      return resources.use(
        new Program({
          words,
          cwd: stage.serverHome,
          env,
          stdin: "null",
          ...(onOutput === undefined ? {} : { onOutput }),
        }),
      );
    };
    let executor: Program;
    if (role === "executor") executor = start(remote);
    else {
      const announcement = new Announcement();
      const listener = start(["--listen", "ws://127.0.0.1:0"], announcement.take);
      executor = start(["forward", "--connect", await announcement.of(listener), ...remote]);
    }
    await connected(world, executor);
    prepare?.(world);
    return {
      CODEX_EXEC_SERVER_NOISE_REGISTRY_URL: world.registryUrl,
      CODEX_EXEC_SERVER_NOISE_ENVIRONMENT_ID: ENVIRONMENT_ID,
      CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN: "token-of-the-harness",
    };
  };
}

const NO_WAY_OUT = {
  HTTPS_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1,localhost",
  AWS_EC2_METADATA_DISABLED: "true",
  CODEX_REFRESH_TOKEN_URL_OVERRIDE: "http://127.0.0.1:9/nowhere",
};

/** @throws {Error} With what it said, if the executor ends instead. */
export async function connected(world: TestWorld, executor: Program): Promise<void> {
  const gone = executor.exited.then(async ({ code }) => {
    throw new Error(`the executor ended with ${code}: ${await executor.stderr}`);
  });
  await Promise.race([world.rendezvous.connected("executor"), gone]);
}
