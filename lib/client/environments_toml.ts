import { readToml, TomlError } from "../toml/read.ts";
import type { TomlValue } from "../toml/value.ts";
import { protocolError } from "./client_error.ts";
import { checkToken, environmentUrl } from "./environment_url.ts";
import type { CommandOptions } from "./node/spawn_command.ts";
import {
  FieldError,
  readBoolean,
  readFields,
  readList,
  readPath,
  readSeconds,
  readString,
  readStringMap,
  readStrings,
  readTable,
  required,
} from "./toml_fields.ts";

/** What `environments.toml` says. */
export interface EnvironmentsConfig {
  /** Whether this machine is an environment too, of the id `local`. */
  readonly includeLocal: boolean;
  /** An id; null: none. */
  readonly default: string | null;
  readonly environments: readonly ConfiguredEnvironment[];
}

/** One `[[environments]]`. Times are milliseconds. */
export interface ConfiguredEnvironment {
  readonly id: string;
  readonly server:
    | { readonly kind: "url"; readonly url: string; readonly token?: string; readonly connectTimeoutMs?: number }
    | { readonly kind: "command"; readonly command: CommandOptions };
  readonly initializeTimeoutMs?: number;
  /** Skills that whoever works there must have; for the harness, not for us. */
  readonly requiredSkills: readonly string[];
}

/** The environment of this machine. */
export const LOCAL_ENVIRONMENT_ID = "local";
const MAX_ID_LENGTH = 64;
/** The longest that a timer can wait: 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Reads `environments.toml`.
 *
 * @param path How error texts call the file.
 * @param directory Its directory, an absolute path, below which a relative `cwd` is; null: there is none.
 * @throws {ClientError} `protocol`: the first thing that is wrong with it.
 */
export function readEnvironmentsToml(text: string, path: string, directory: string | null): EnvironmentsConfig {
  const { default: name, include_local: includeLocal = true, environments: entries = [] } = parse(text, path);
  const ids = new Set<string>(includeLocal ? [LOCAL_ENVIRONMENT_ID] : []);
  const environments = entries.map((entry) => {
    const environment = checkedEntry(entry, directory);
    if (ids.has(environment.id)) throw protocolError(`environment id \`${environment.id}\` is duplicated`);
    ids.add(environment.id);
    return environment;
  });
  return { includeLocal, default: defaultId(name, includeLocal, ids), environments };
}

function parse(text: string, path: string) {
  try {
    return readTable(readToml(text), [], {
      default: readString,
      include_local: readBoolean,
      environments: (value, at) => readList(value, at, readEntry),
    });
  } catch (error) {
    const detail = error instanceof FieldError
      ? error.message
      : error instanceof TomlError
      ? syntaxDetail(error)
      : undefined;
    if (detail === undefined) throw error;
    throw protocolError(`failed to parse environment config \`${path}\`: ${detail}`, error);
  }
}

/** The reference does not tell the place. */
function syntaxDetail({ reason, line, column }: TomlError): string {
  const known = reason === "Defining a key multiple times is invalid" ? "duplicate key" : reason;
  return `${known}, at line ${line}, column ${column}`;
}

type Entry = ReturnType<typeof readEntry>;

function readEntry(value: TomlValue, at: readonly string[]) {
  const { id, ...others } = readFields(value, at, "struct EnvironmentToml", {
    id: readString,
    skills: (skills, path) => readFields(skills, path, "struct ScopedSkillsConfig", { required: readStrings }),
    url: readString,
    auth_bearer_token: readString,
    program: readString,
    args: readStrings,
    env: readStringMap,
    cwd: readPath,
    connect_timeout_sec: readSeconds,
    initialize_timeout_sec: readSeconds,
  });
  return { id: required(id, "id", at), ...others };
}

function checkedEntry(entry: Entry, directory: string | null): ConfiguredEnvironment {
  const { id, initialize_timeout_sec: initializeMs, skills } = entry;
  checkId(id);
  return {
    id,
    server: serverOf(entry, directory),
    ...(initializeMs === undefined ? {} : { initializeTimeoutMs: timerMs(initializeMs) }),
    requiredSkills: skills?.required ?? [],
  };
}

function checkId(id: string): void {
  if (id.trim() === "") throw protocolError("environment id cannot be empty");
  const flaw = id !== id.trim()
    ? "must not contain surrounding whitespace"
    : id === LOCAL_ENVIRONMENT_ID || isNone(id)
    ? "is reserved"
    : new TextEncoder().encode(id).length > MAX_ID_LENGTH
    ? `cannot be longer than ${MAX_ID_LENGTH} characters`
    : /^[A-Za-z0-9_-]*$/.test(id)
    ? undefined
    : "must contain only ASCII letters, numbers, '-' or '_'";
  if (flaw !== undefined) throw protocolError(`environment id \`${id}\` ${flaw}`);
}

function serverOf(entry: Entry, directory: string | null): ConfiguredEnvironment["server"] {
  const { id, url, program, args, env, cwd, auth_bearer_token: token, connect_timeout_sec: connectMs } = entry;
  const refuse = (flaw: string) => protocolError(`environment \`${id}\` ${flaw}`);
  if (program === undefined && (args ?? env ?? cwd) !== undefined) throw refuse("args, env, and cwd require program");
  if (url === undefined && token !== undefined) throw refuse("auth_bearer_token requires url");
  if (url === undefined && connectMs !== undefined) throw refuse("connect_timeout_sec requires url");
  if (url !== undefined && program === undefined) {
    const target = environmentUrl(url);
    if (token !== undefined) checkToken(target, token);
    return {
      kind: "url",
      url: target,
      ...(token === undefined ? {} : { token }),
      ...(connectMs === undefined ? {} : { connectTimeoutMs: timerMs(connectMs) }),
    };
  }
  if (program === undefined || url !== undefined) throw refuse("must set exactly one of url or program");
  if (program.trim() === "") throw refuse("program cannot be empty");
  const directoryOf = cwd === undefined ? undefined : absolute(cwd, directory);
  if (directoryOf === null) throw refuse("cwd must be absolute");
  return {
    kind: "command",
    command: {
      program: program.trim(),
      args: args ?? [],
      env: env ?? {},
      ...(directoryOf === undefined ? {} : { cwd: directoryOf }),
    },
  };
}

/** @returns Null if the path is relative to nothing. */
function absolute(path: string, directory: string | null): string | null {
  if (/^(\/|[A-Za-z]:[/\\]|\\\\)/.test(path)) return path;
  return directory === null ? null : `${directory}/${path}`;
}

function timerMs(ms: number): number {
  return Math.min(ms, MAX_TIMER_MS);
}

function defaultId(name: string | undefined, includeLocal: boolean, ids: ReadonlySet<string>): string | null {
  if (name === undefined) return includeLocal ? LOCAL_ENVIRONMENT_ID : null;
  const id = name.trim();
  if (id === "") throw protocolError("default environment id cannot be empty");
  if (isNone(id)) return null;
  if (!ids.has(id)) throw protocolError(`default environment \`${id}\` is not configured`);
  return id;
}

/** `none`, in any case. */
function isNone(text: string): boolean {
  return text.toLowerCase() === "none";
}
