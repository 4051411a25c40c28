import { connect, connectCommand } from "../client/connect.ts";
import type { ClientOptions, ExecClient } from "../client/client.ts";
import { tokenFile } from "../client/node/token_file.ts";
import type { Client } from "./client.ts";
import type { Cli, Command } from "./command.ts";
import type { CommandArguments } from "./command_arguments.ts";
import { type ServerTarget, serverTarget, TOKEN_VARIABLE } from "./connection_options.ts";
import { aside, hint, say } from "./say.ts";

const CLIENT_NAME = "exec-server-cli";

export interface OpenOptions {
  /** A session of an earlier client. */
  readonly resumeSessionId?: string;
}

/**
 * Connects to the server that the command line names; without one starts one of our own, which ends with the client.
 *
 * @throws {UsageError} See {@linkcode serverTarget}.
 * @throws {ClientError} Why there is no connection.
 */
export function openClient(args: CommandArguments, command: Command, cli: Cli): Promise<Client> {
  return openTarget(serverTarget(args, command), cli);
}

/** The same, for a target that has been found already. */
export async function openTarget(target: ServerTarget, cli: Cli, options: OpenOptions = {}): Promise<Client> {
  const common: ClientOptions = { clientName: CLIENT_NAME, clock: cli.clock, ...options };
  switch (target.kind) {
    case "url": {
      const token = target.tokenFile === undefined ? cli.env(TOKEN_VARIABLE)?.trim() : tokenFile(target.tokenFile);
      const link = new LinkTeller(cli);
      return link.client = await connect(target.url, {
        ...common,
        onState: (state) => link.tell(state),
        ...(token ? { token } : {}),
      });
    }
    case "embedded": {
      const [program, ...args] = cli.self;
      return await connectCommand({ program, args: [...args, "--listen", "stdio"] }, common);
    }
    case "environment":
      throw new Error("TODO");
  }
}

/** Says that the link is lost, and that it is back; the end of the trying is said by whoever needed it. */
class LinkTeller {
  client: ExecClient | undefined;
  #wasLost = false;
  readonly #cli: Cli;

  constructor(cli: Cli) {
    this.#cli = cli;
  }

  tell(state: "connected" | "disconnected"): void {
    // Our own end of the link is no loss.
    if (state === "disconnected" && this.client?.state === "recovering") {
      this.#wasLost = true;
      aside(say(this.#cli, "the link to the server is lost; trying to get it back"));
      aside(hint(this.#cli, "(Ctrl-C gives up)"));
    } else if (state === "connected" && this.#wasLost) {
      this.#wasLost = false;
      aside(say(this.#cli, "the link to the server is back"));
    }
  }
}
