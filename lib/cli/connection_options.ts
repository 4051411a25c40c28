import type { Cli, CommandOption } from "./command.ts";
import { type CommandArguments, usageError } from "./command_arguments.ts";
import type { DetachedProcess } from "./state.ts";
import { TRACE_VARIABLES } from "./trace_context.ts";

/** Where a command finds its server. */
export type ServerTarget =
  /** A server of its own, which lives as long as the command. */
  | { readonly kind: "embedded" }
  | { readonly kind: "url"; readonly url: string; readonly tokenFile?: string }
  | { readonly kind: "environment"; readonly name: string };

/** The variable that holds the token for `--connect`. */
export const TOKEN_VARIABLE = "EXEC_SERVER_TOKEN";

/** The options of every command that asks a server. */
export const CONNECTION_OPTIONS: readonly CommandOption[] = [
  {
    name: "--connect",
    value: "<URL>",
    notEmpty: true,
    help:
      "The server, as it prints its address: ws://HOST:PORT or wss://HOST. Without it and without --env a server of " +
      "its own runs on this machine as long as the command does.",
  },
  {
    name: "--env",
    value: "<NAME>",
    notEmpty: true,
    help:
      "The environment of that name in environments.toml of CODEX_HOME (default: ~/.codex); or remote, the one of the " +
      "variables below.",
  },
  {
    name: "--token-file",
    value: "<PATH>",
    notEmpty: true,
    completion: "file",
    help: "The file that holds the token which the server of --connect wants to see. Tokens go to wss:// and to this " +
      "machine only.",
  },
];

/** The variable whose presence makes the environment `remote` one of a registry, and the one with the token for that. */
export const REGISTRY_VARIABLES = {
  url: "CODEX_EXEC_SERVER_NOISE_REGISTRY_URL",
  token: "CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN",
} as const;

/** Where the environments of `--env` come from. */
export const CONFIGURATION_ENVIRONMENT: readonly (readonly [string, string])[] = [
  ["CODEX_HOME", "Where environments.toml is."],
  ["CODEX_EXEC_SERVER_URL", "Without environments.toml: the server of the environment remote."],
  [
    REGISTRY_VARIABLES.url,
    "Before both, with …_NOISE_ENVIRONMENT_ID and …_NOISE_AUTH_TOKEN: a registry, which of its environments remote is, " +
    "and the token for the registry.",
  ],
];

/** The variables of every command that asks a server. */
export const CONNECTION_ENVIRONMENT: readonly (readonly [string, string])[] = [
  [TOKEN_VARIABLE, "The token for the server of --connect, if there is no --token-file."],
  ...CONFIGURATION_ENVIRONMENT,
  [`${TRACE_VARIABLES.parent}, ${TRACE_VARIABLES.state}`, "The trace that the requests belong to (W3C trace context)."],
];

/**
 * What the options say about the server.
 *
 * @throws {UsageError} If they contradict each other, or the URL is none or holds a secret.
 */
export function serverTarget(args: CommandArguments, command: Parameters<typeof usageError>[0]): ServerTarget {
  const [url, name, tokenFile] = [args.get("--connect"), args.get("--env"), args.get("--token-file")];
  if (url !== undefined && name !== undefined) {
    throw usageError(command, "the argument '--connect <URL>' cannot be used with '--env <NAME>'");
  }
  if (tokenFile !== undefined && url === undefined) {
    throw usageError(command, "the argument '--token-file <PATH>' needs '--connect <URL>'");
  }
  if (url !== undefined) {
    const flaw = urlFlaw(url);
    if (flaw !== undefined) throw usageError(command, `invalid value for '--connect <URL>': ${flaw}`);
    return { kind: "url", url, ...(tokenFile === undefined ? {} : { tokenFile }) };
  }
  return name === undefined ? { kind: "embedded" } : { kind: "environment", name };
}

/** Where a detached process of ours runs. */
export function savedTarget({ target, tokenFile }: DetachedProcess): ServerTarget {
  if ("env" in target) return { kind: "environment", name: target.env };
  return { kind: "url", url: target.url, ...(tokenFile === undefined ? {} : { tokenFile }) };
}

/** The target as `exec --detach` keeps it. @returns Undefined for a server that ends with the command. */
export function toSave(target: ServerTarget, cli: Cli): Pick<DetachedProcess, "target" | "tokenFile"> | undefined {
  if (target.kind === "embedded") return undefined;
  if (target.kind === "environment") return { target: { env: target.name } };
  const { url, tokenFile } = target;
  return { target: { url }, ...(tokenFile === undefined ? {} : { tokenFile: absolute(tokenFile, cli.cwd()) }) };
}

/** Says neither the URL nor a part of it when that may be a secret. */
function urlFlaw(url: string): string | undefined {
  if (!URL.canParse(url)) return `'${url}' is no URL; a server prints one when it starts, such as ws://127.0.0.1:8765`;
  const { protocol, username, password } = new URL(url);
  if (username !== "" || password !== "") {
    return "a URL must not hold a name or password, which other users could see; a token belongs in --token-file " +
      `<PATH> or the variable ${TOKEN_VARIABLE}`;
  }
  if (protocol !== "ws:" && protocol !== "wss:") return `'${protocol}//' is not supported; ws:// and wss:// are`;
  return undefined;
}

function absolute(path: string, cwd: string): string {
  return /^([/\\]|[A-Za-z]:[/\\])/.test(path) ? path : `${cwd}/${path}`;
}
