import { RunningServer, type ServerCommand } from "../program/running_server.ts";
import type { WireClient } from "../support/wire_client.ts";
import type { LocalCarrier, RowId, Side } from "./rows.ts";
import type { Samples } from "./samples.ts";

/** What one run compares, how thoroughly, and where the figures go. */
export interface Plan {
  readonly commands: Readonly<Partial<Record<Side, ServerCommand>>>;
  readonly carriers: readonly LocalCarrier[];
  /** Whether the relay is measured as well. */
  readonly relay: boolean;
  /** Turns of A B A B … for what takes milliseconds, and samples per turn. */
  readonly turns: number;
  readonly samplesPerTurn: number;
  /** Turns of A B A B … for starts of the server. */
  readonly launches: number;
  /** Turns of A B A B … for floods. */
  readonly floods: number;
  /** How much the rows of files take. */
  readonly files: FileSizes;
  readonly samples: Samples;
  /** Whether a row was asked for. */
  wants(row: RowId): boolean;
  /** Tells an impatient person what goes on. */
  progress(text: string): void;
}

export interface FileSizes {
  /** Turns of A B A B … for what takes seconds. */
  readonly turns: number;
  /** Size of what goes by blocks and of what is streamed. */
  readonly bigBytes: number;
  /** Children of the one big directory; entries of the trees. */
  readonly directoryEntries: number;
  readonly treeEntries: number;
}

/** The sides in the order of their turns. */
export function sides(plan: Plan): [Side, ServerCommand][] {
  return Object.entries(plan.commands) as [Side, ServerCommand][];
}

/** A server with one client that has made its handshake. Leaving the scope ends both. */
export class Bed implements AsyncDisposable {
  #starts = 0;

  private constructor(
    readonly side: Side,
    readonly carrier: LocalCarrier,
    readonly server: RunningServer,
    readonly client: WireClient,
  ) {}

  static async make(side: Side, command: ServerCommand, carrier: LocalCarrier): Promise<Bed> {
    const server = await RunningServer.start({ command, listen: carrier });
    try {
      const client = await server.connect();
      await client.initialize();
      return new Bed(side, carrier, server, client);
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A process id that was not used before. */
  nextId(): string {
    return `bench ${++this.#starts}`;
  }

  /**
   * The value of `promise`.
   *
   * @throws {Error} If the conversation ends first: what is awaited would never come.
   */
  async whileAlive<T>(promise: Promise<T>): Promise<T> {
    const lost = this.client.ended.then(({ reason }) => {
      throw new Error(`${this.side} over ${this.carrier}: ${reason}; stderr: ${this.server.stderr}`);
    });
    return await Promise.race([promise, lost]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}
