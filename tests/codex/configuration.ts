/** The files that tell the Codex CLI which model to ask and where to work. */
import { searchPath } from "../wire/workspace.ts";
import type { Stage } from "./stage.ts";

/** The id of the one environment: what the CLI calls the one of `CODEX_EXEC_SERVER_URL` itself. */
export const ENVIRONMENT_ID = "remote";

/** One entry of `environments.toml`. */
export type Environment =
  | { readonly id: string; readonly url: string }
  | {
    readonly id: string;
    readonly words: readonly string[];
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
  };

/**
 * `config.toml`: a model that exists in the CLI's catalogue, because others get no `apply_patch`; nothing asked of
 * anybody; and everything off that would look outside of this machine at start.
 *
 * @param sandbox What says how commands are confined; empty: the CLI's own default.
 * @param more Tables to append.
 */
export function config(baseUrl: string, sandbox: string, more = ""): string {
  return `model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
${sandbox}
check_for_update_on_startup = false
web_search = "disabled"
suppress_unstable_features_warning = true

[model_providers.scripted]
name = "scripted"
base_url = ${quote(baseUrl)}
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[features]
apps = false
plugins = false
remote_plugin = false
multi_env_copy_file = true

${more}`;
}

/** Commands are not confined. */
export const UNCONFINED = 'sandbox_mode = "danger-full-access"';

/** `environments.toml`; the first one is the default, and this machine itself is none of them. */
export function environments(list: readonly [Environment, ...Environment[]]): string {
  return [`default = ${quote(list[0].id)}`, "include_local = false", ...list.map(entry)].join("\n");
}

function entry(environment: Environment): string {
  const head = `\n[[environments]]\nid = ${quote(environment.id)}`;
  if ("url" in environment) return `${head}\nurl = ${quote(environment.url)}`;
  const { words: [program = "", ...args], cwd, env } = environment;
  return `${head}
program = ${quote(program)}
args = [${[...args, "--listen", "stdio"].map(quote).join(", ")}]
cwd = ${quote(cwd)}
[environments.env]
${Object.entries(env).map(([name, value]) => `${name} = ${quote(value)}`).join("\n")}`;
}

/** A table of `config.toml`: an MCP server that is reached from the environment. */
export function mcpServer(name: string, settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}`);
  return [`[mcp_servers.${name}]`, `environment_id = ${quote(ENVIRONMENT_ID)}`, "required = true", ...lines, ""].join(
    "\n",
  );
}

/** A string of TOML: every JSON string is one. */
export function quote(text: string): string {
  return JSON.stringify(text);
}

/**
 * The variables of a server: nothing of ours but the search path and where Deno keeps what it has compiled.
 *
 * @param carrier How it is talked to, for its programs to tell: `EXEC_SERVER_TEST_CARRIER`.
 */
export function serverEnvironment(stage: Stage, carrier: "ws" | "stdio"): Record<string, string> {
  return {
    PATH: searchPath(),
    HOME: stage.serverHome,
    CODEX_HOME: stage.serverHome,
    TMPDIR: `${stage.serverHome}/tmp`,
    DENO_DIR: denoDirectory(),
    DENO_NO_UPDATE_CHECK: "1",
    EXEC_SERVER_TEST_CARRIER: carrier,
  };
}

/**
 * The variables of the CLI. Whatever would want to leave this machine in spite of the configuration meets a proxy that
 * is not there (port 9 discards).
 */
export function cliEnvironment(stage: Stage): Record<string, string> {
  return {
    PATH: searchPath(),
    HOME: stage.home,
    CODEX_HOME: stage.codexHome,
    TMPDIR: `${stage.codexHome}/tmp`,
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1,localhost",
    NO_COLOR: "1",
  };
}

function denoDirectory(): string {
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME") ?? "/root"}/.cache`;
  return Deno.env.get("DENO_DIR") ?? `${cache}/deno`;
}
