import type { Log } from "../log.ts";
import type { Carrier } from "./carrier.ts";
import { ClientError, protocolError } from "./client_error.ts";
import { commandCarrier } from "./command_carrier.ts";
import type { ConfiguredEnvironment } from "./environments_toml.ts";
import { readTextFile } from "./node/read_text_file.ts";
import { relayCarrier } from "./relay_carrier.ts";
import { systemErrorText } from "./system_error.ts";
import { websocketCarrier } from "./websocket_carrier.ts";

export interface SourceOptions {
  /** A variable of the process's environment. */
  readonly env?: (name: string) => string | undefined;
  /** The text of a file; undefined: there is none. It may throw. Default: the file system, as far as there is one. */
  readonly readFile?: (path: string) => Promise<string | undefined>;
  readonly log?: Log;
}

/** The environments that there are, before any of them is reached. */
export interface EnvironmentSet {
  /** Whether this machine is one of them, of the id `local`. */
  readonly includeLocal: boolean;
  /** The one to use where none is asked for; null: none. */
  readonly default: string | null;
  readonly environments: readonly EnvironmentSource[];
}

export interface EnvironmentSource {
  readonly id: string;
  readonly carrier: Carrier;
  readonly initializeTimeoutMs?: number;
  /** Skills that whoever works there must have; for the harness, not for us. */
  readonly requiredSkills: readonly string[];
}

/** A second or so of reading; most files have a few hundred. Ours: the reference knows no bound. */
const MAX_CONFIG_BYTES = 131_072;
const LOCAL: EnvironmentSet = { includeLocal: true, default: "local", environments: [] };
const NONE: EnvironmentSet = { includeLocal: false, default: null, environments: [] };
/** What an environment is called that variables describe. */
const REMOTE = "remote";
const NOISE_VARIABLES = ["REGISTRY_URL", "ENVIRONMENT_ID", "AUTH_TOKEN"].map((name) =>
  `CODEX_EXEC_SERVER_NOISE_${name}`
);
/** Not needed, and not looked at without the others. */
const NOISE_ACCOUNT_VARIABLE = "CODEX_EXEC_SERVER_NOISE_CHATGPT_ACCOUNT_ID";

/**
 * Which environments there are. The first of these that is there decides: the variables of a registry,
 * `environments.toml` in `CODEX_HOME` (default `~/.codex`), the variable `CODEX_EXEC_SERVER_URL`; else it is this machine
 * alone.
 *
 * @throws {ClientError} The first thing that is wrong with them.
 */
export async function environmentSources(options: SourceOptions = {}): Promise<EnvironmentSet> {
  const { env = processVariable, readFile = (path) => readTextFile(path, MAX_CONFIG_BYTES) } = options;
  return fromRegistry(env) ?? await fromFile(codexHome(env), readFile, options.log) ?? fromUrl(env);
}

function processVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name];
}

function fromRegistry(env: (name: string) => string | undefined): EnvironmentSet | undefined {
  const [registry, environmentId, token] = NOISE_VARIABLES.map((name) => trimmed(env, name));
  if (registry === undefined && environmentId === undefined && token === undefined) return undefined;
  if (registry === undefined || environmentId === undefined || token === undefined) {
    const [url, id, secret] = NOISE_VARIABLES;
    throw new ClientError(
      "configuration",
      `environment registry configuration error: Noise environment requires ${url}, ${id}, and ${secret}`,
    );
  }
  const accountId = trimmed(env, NOISE_ACCOUNT_VARIABLE);
  return onlyRemote(
    relayCarrier({ registry, environmentId, token, ...(accountId === undefined ? {} : { accountId }) }),
  );
}

/** A variable's value without blanks around it; undefined if nothing is left. */
function trimmed(env: (name: string) => string | undefined, name: string): string | undefined {
  return env(name)?.trim() || undefined;
}

function codexHome(env: (name: string) => string | undefined): string | undefined {
  const home = env("HOME") || env("USERPROFILE");
  return env("CODEX_HOME") || (home ? `${home}/.codex` : undefined);
}

async function fromFile(
  directory: string | undefined,
  readFile: (path: string) => Promise<string | undefined>,
  log: Log | undefined,
): Promise<EnvironmentSet | undefined> {
  if (directory === undefined) return undefined;
  const path = `${directory}/environments.toml`;
  let text: string | undefined;
  try {
    text = await readFile(path);
  } catch (error) {
    const reason = error instanceof TypeError ? "stream did not contain valid UTF-8" : systemErrorText(error);
    throw protocolError(`failed to read environment config \`${path}\`: ${reason}`, error);
  }
  if (text === undefined) return undefined;
  // A parser is needed for such a file alone.
  const { readEnvironmentsToml } = await import("./environments_toml.ts");
  const config = readEnvironmentsToml(text, path, directory);
  return { ...config, environments: config.environments.map((environment) => sourceOf(environment, log)) };
}

function sourceOf({ server, ...others }: ConfiguredEnvironment, log: Log | undefined): EnvironmentSource {
  const carrier = server.kind === "url"
    ? websocketCarrier(server.url, server)
    : commandCarrier(server.command, log === undefined ? {} : { log });
  return { ...others, carrier };
}

function fromUrl(env: (name: string) => string | undefined): EnvironmentSet {
  const url = env("CODEX_EXEC_SERVER_URL")?.trim() ?? "";
  if (url === "") return LOCAL;
  return url.toLowerCase() === "none" ? NONE : onlyRemote(websocketCarrier(url));
}

function onlyRemote(carrier: Carrier): EnvironmentSet {
  return { includeLocal: false, default: REMOTE, environments: [{ id: REMOTE, carrier, requiredSkills: [] }] };
}
