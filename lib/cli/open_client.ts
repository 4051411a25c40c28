import type { Carrier } from "../client/carrier.ts";
import { type ClientOptions, ExecClient } from "../client/client.ts";
import { ClientError } from "../client/client_error.ts";
import { type Log, silentLog } from "../log.ts";
import type { Client } from "./client.ts";
import type { Cli, Command } from "./command.ts";
import type { CommandArguments } from "./command_arguments.ts";
import { type ServerTarget, serverTarget, TOKEN_VARIABLE } from "./connection_options.ts";
import { errorWords } from "./error_words.ts";
import { LastWords } from "./last_words.ts";
import { aside, hint, say } from "./say.ts";
import { traceOf } from "./trace_context.ts";

const CLIENT_NAME = "exec-server-cli";
/** The environment that is this machine. */
const LOCAL = "local";

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
  const lastWords = new LastWords();
  const { carrier, ...more } = await wayTo(target, cli, lastWords.log);
  const link = new LinkTeller(cli, carrier.resume !== null);
  try {
    return link.client = await ExecClient.connect(carrier, {
      clientName: CLIENT_NAME,
      clock: cli.clock,
      telemetry: traceOf(cli),
      onState: (state) => link.tell(state),
      ...options,
      ...more,
    });
  } catch (error) {
    if (!(error instanceof ClientError) || lastWords.text === "") throw error;
    throw new ClientError(error.kind, `${errorWords(error)}; it said: ${lastWords.text}`, { cause: error });
  }
}

/** How a target is reached. */
export interface Way extends Pick<ClientOptions, "id" | "initializeTimeoutMs"> {
  readonly carrier: Carrier;
}

/**
 * Finds out how a target is reached, and does not reach for it yet.
 *
 * @param log Hears what a server of our own says on its stderr.
 * @throws {ClientError} If the configuration of environments is wrong.
 * @throws {Error} If there is no such environment.
 */
export async function wayTo(target: ServerTarget, cli: Cli, log: Log = silentLog): Promise<Way> {
  switch (target.kind) {
    case "url":
      return { carrier: await urlCarrier(target, cli) };
    case "embedded":
      return await embedded(cli, log);
    case "environment":
      return await configured(target.name, cli, log);
  }
}

async function urlCarrier({ url, tokenFile }: ServerTarget & { kind: "url" }, cli: Cli): Promise<Carrier> {
  const { websocketCarrier } = await import("../client/websocket_carrier.ts");
  if (tokenFile !== undefined) {
    const { tokenFile: tokenIn } = await import("../client/node/token_file.ts");
    return websocketCarrier(url, { token: tokenIn(tokenFile) });
  }
  const token = cli.env(TOKEN_VARIABLE)?.trim();
  return websocketCarrier(url, token ? { token } : {});
}

async function embedded(cli: Cli, log: Log): Promise<Way> {
  const { commandCarrier } = await import("../client/command_carrier.ts");
  const [program, ...args] = cli.self;
  const command = { program, args: [...args, "--listen", "stdio"], ...await elsewhere(cli) };
  return { carrier: commandCarrier(command, { log }), id: LOCAL };
}

/**
 * Where a server of ours starts, if it cannot be where we are: somebody who became another user may be in a directory
 * that he cannot enter, and the platform enters it by its path.
 */
async function elsewhere(cli: Cli): Promise<{ cwd?: string }> {
  const cwd = cli.cwd();
  try {
    await Deno.stat(`${cwd}/.`);
    return {};
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    aside(say(cli, `the current directory '${cwd}' cannot be entered; programs on this machine start in '/'`));
    return { cwd: "/" };
  }
}

async function configured(name: string, cli: Cli, log: Log): Promise<Way> {
  const { environmentSources } = await import("../client/environment_sources.ts");
  const { environments, includeLocal } = await environmentSources({ env: (variable) => cli.env(variable), log });
  if (name === LOCAL && includeLocal) return await embedded(cli, log);
  const found = environments.find(({ id }) => id === name);
  if (found === undefined) {
    const ids = [...includeLocal ? [LOCAL] : [], ...environments.map(({ id }) => id)];
    const known = ids.length === 0 ? "there is none at all" : `there is ${ids.join(", ")}`;
    throw new Error(`no environment '${name}' is configured in environments.toml or variables; ${known}`);
  }
  const { carrier, initializeTimeoutMs } = found;
  return { carrier, id: name, ...(initializeTimeoutMs === undefined ? {} : { initializeTimeoutMs }) };
}

/** Says that the link is lost, and that it is back; the end of the trying is said by whoever needed it. */
class LinkTeller {
  client: ExecClient | undefined;
  #wasLost = false;
  readonly #cli: Cli;
  readonly #canComeBack: boolean;

  constructor(cli: Cli, canComeBack: boolean) {
    [this.#cli, this.#canComeBack] = [cli, canComeBack];
  }

  tell(state: "connected" | "disconnected"): void {
    // Our own end of the link is no loss, and a server of our own does not come back.
    if (state === "disconnected" && this.client?.state === "recovering" && this.#canComeBack) {
      this.#wasLost = true;
      aside(say(this.#cli, "the link to the server is lost; trying to get it back"));
      aside(hint(this.#cli, "(Ctrl-C gives up)"));
    } else if (state === "connected" && this.#wasLost) {
      this.#wasLost = false;
      aside(say(this.#cli, "the link to the server is back"));
    }
  }
}
