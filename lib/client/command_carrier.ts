import { type Log, silentLog } from "../log.ts";
import type { Carrier, OpenedConnection, OpenOptions } from "./carrier.ts";
import { CommandConnection } from "./command_connection.ts";
import { CommandGroup } from "./command_group.ts";
import { type CommandOptions, spawnCommand } from "./node/spawn_command.ts";
import { logStderr } from "./stderr_log.ts";

/**
 * A server that is started as our child and lives as long as its connection. Its end is final: no second one is started
 * in its place.
 */
export function commandCarrier(command: CommandOptions, options: { readonly log?: Log } = {}): Carrier {
  return new CommandCarrier(command, options.log ?? silentLog);
}

class CommandCarrier implements Carrier {
  readonly label = "exec-server stdio command";
  readonly resume = null;
  readonly renewable = false;
  readonly #command: CommandOptions;
  readonly #log: Log;

  constructor(command: CommandOptions, log: Log) {
    this.#command = command;
    this.#log = log;
  }

  async open({ signal }: OpenOptions): Promise<OpenedConnection> {
    signal.throwIfAborted();
    const command = await spawnCommand(this.#command, this.#log);
    const group = new CommandGroup(command);
    void logStderr(command.stderr, this.#log);
    const gone = Promise.all([group.gone, command.closed]).then(() => {});
    const connection = new CommandConnection(command, { label: this.label, end: () => group.end() });
    if (signal.aborted) {
      connection.close();
      await gone;
      throw signal.reason;
    }
    return { connection, gone };
  }
}
