/** Our executor in this process, with a world of its own around it, and our clients. Leaving the scope ends all of it. */
import type { ClientOptions, ExecClient } from "../../../lib/client/client.ts";
import { connectRelay } from "../../../lib/client/connect.ts";
import type { Clock } from "../../../lib/clock.ts";
import { createLog } from "../../../lib/log.ts";
import type { Dial } from "../../../lib/relay/socket/relay_socket.ts";
import { dialRendezvous } from "../../../lib/relay/socket/ws_socket.ts";
import { type RemoteEnvironmentOptions, runRemoteEnvironment } from "../../../lib/server/remote_environment.ts";
import { ExecServer } from "../../../lib/server/serve.ts";
import { hastyClock } from "./hasty_clock.ts";
import { API_KEY } from "./remote_program.ts";
import type { Peer } from "./rendezvous.ts";
import { TestWorld, type WorldOptions } from "./world.ts";

// Off Linux these do not load, and no test here runs. They open libraries, which must not be counted as leaks of a test.
const linux = Deno.build.os !== "linux" ? null : await Promise.all([
  import("../../../lib/process/linux/spawn.ts"),
  import("../../../lib/fs/linux/system.ts"),
  import("../../../lib/linux/tcp.ts"),
]);

export const ENVIRONMENT_ID = "environment of tests/1";
export const HARNESS_TOKEN = "token-of-the-harness-83c2";

export interface RigOptions extends WorldOptions {
  /** Time of the executor; the machine's own with short pauses unless given. */
  readonly clock?: Clock;
  readonly concurrentRequests?: number;
}

export class Rig implements AsyncDisposable {
  readonly world: TestWorld;
  /** What an operator sees, one line each, at the level `debug`. */
  readonly log: string[] = [];
  /** Resolves, or rejects, when the executor has ended. */
  readonly ended: Promise<void>;
  readonly #stop = new AbortController();

  private constructor({ clock = hastyClock, concurrentRequests, ...world }: RigOptions) {
    this.world = TestWorld.start(world);
    const log = createLog("debug", (line) => this.log.push(line));
    this.ended = this.#run({
      registry: this.world.registryUrl,
      environmentId: ENVIRONMENT_ID,
      auth: () => ({ authorization: `Bearer ${API_KEY}` }),
      signal: this.#stop.signal,
      log,
      clock,
      dial: dialAt(clock),
    }, concurrentRequests);
    this.ended.catch(() => {}); // whoever waits for it hears of it
  }

  /** Resolves when the executor has connected. */
  static async start(options: RigOptions = {}): Promise<Rig> {
    const rig = new Rig(options);
    try {
      await rig.executor();
      return rig;
    } catch (error) {
      await rig[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The same with a registry or a rendezvous that is bad from the beginning. */
  static begin(prepare: (world: TestWorld) => void, options: RigOptions = {}): Rig {
    const rig = new Rig(options);
    prepare(rig.world);
    return rig;
  }

  /** The executor's `count`th connection to the rendezvous. */
  async executor(count = 1): Promise<Peer> {
    const ended = this.ended.then(() => {
      throw new Error("the executor has ended");
    });
    return await Promise.race([this.world.rendezvous.connected("executor", count), ended]);
  }

  /** How a harness is told of its registry and environment. */
  get relay(): Parameters<typeof connectRelay>[0] {
    return { registry: this.world.registryUrl, environmentId: ENVIRONMENT_ID, token: HARNESS_TOKEN };
  }

  /** A client that has made its handshake. */
  connect(options: ClientOptions = {}): Promise<ExecClient> {
    const { clock = hastyClock } = options;
    return connectRelay({ ...this.relay, dial: dialAt(clock) }, { ...options, clock });
  }

  /** As a signal ends the program. */
  stop(): void {
    this.#stop.abort();
  }

  /** With a server of our own, so that its programs have ended, and all that watched them, when this resolves. */
  async #run(options: RemoteEnvironmentOptions, concurrentRequests = 1): Promise<void> {
    const { log } = options;
    const [{ linuxBackend }] = linux!;
    await using backend = linuxBackend({ log: log! });
    await using server = await ExecServer.create({ backend, concurrentRequests, log: log! });
    await runRemoteEnvironment({ ...options, server });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await Promise.allSettled([this.ended]);
    await this.world[Symbol.asyncDispose]();
  }
}

/** Connections whose pings, too, are due by this clock. */
function dialAt(clock: Clock): Dial {
  return (url, options) => dialRendezvous(url, options, clock);
}

/** A test with our executor, which runs programs as Linux does. */
export function relayTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: Deno.build.os !== "linux", fn });
}
