/** An executor behind a registry and a rendezvous, each a program of its own, and our harness in this one. */
import { relayCarrier } from "../../lib/client/relay_carrier.ts";
import type { Carrier } from "../../lib/client/carrier.ts";
import { isolated, startRemote } from "../relay/support/remote_program.ts";
import type { ServerCommand } from "../program/running_server.ts";
import { Announcement, Program } from "../wire/program.ts";
import { RelayPeer } from "./relay_peer.ts";
import type { Side } from "./rows.ts";

const SERVICE = new URL("./relay_service.ts", import.meta.url).pathname;
const PROJECT = new URL("../../", import.meta.url).pathname;
const ENVIRONMENT_ID = "bench";
/** How often it is looked whether the executor has registered. */
const ATTEMPTS = 400;
const BETWEEN_ATTEMPTS_MS = 50;

export class RelayBed implements AsyncDisposable {
  #starts = 0;

  private constructor(
    readonly side: Side,
    readonly executor: Program,
    readonly carrier: Carrier,
    readonly resources: AsyncDisposableStack,
  ) {}

  static async make(side: Side, command: ServerCommand): Promise<RelayBed> {
    await using resources = new AsyncDisposableStack();
    const registryUrl = await startService(resources);
    const words = command.map((word) => word === "main.ts" ? `${PROJECT}main.ts` : word);
    const executor = await startRemote(resources, { words, registryUrl, environmentId: ENVIRONMENT_ID });
    const carrier = relayCarrier({ registry: registryUrl, environmentId: ENVIRONMENT_ID, token: "bench" });
    if (carrier.use !== undefined) resources.use(carrier.use());
    const bed = new RelayBed(side, executor, carrier, resources.move());
    try {
      await bed.#ready();
      return bed;
    } catch (error) {
      await bed[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A stream that is open, before `initialize`. */
  async open(): Promise<RelayPeer> {
    return new RelayPeer(await this.carrier.open({ signal: AbortSignal.timeout(30_000) }));
  }

  /** A process id that was not used before. */
  nextId(): string {
    return `bench ${++this.#starts}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.resources.disposeAsync();
  }

  async #ready(): Promise<void> {
    for (let attempt = 1;; attempt++) {
      try {
        await using _peer = await this.open();
        return;
      } catch (error) {
        if (!this.executor.running) throw new Error(`the executor ended: ${await this.executor.stderr}`);
        if (attempt === ATTEMPTS) throw error;
        await new Promise((resolve) => setTimeout(resolve, BETWEEN_ATTEMPTS_MS));
      }
    }
  }
}

async function startService(resources: AsyncDisposableStack): Promise<string> {
  const home = await Deno.makeTempDir();
  resources.defer(() => Deno.remove(home, { recursive: true }));
  const announcement = new Announcement();
  const service = resources.use(
    new Program({
      words: [Deno.execPath(), "run", "-A", "--config", `${PROJECT}deno.json`, SERVICE],
      cwd: home,
      env: isolated(home),
      stdin: "piped",
      onOutput: announcement.take,
    }),
  );
  return await announcement.of(service);
}
