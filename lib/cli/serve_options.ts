import { LOG_LEVELS, type LogLevel } from "../log.ts";
import type { AuthSettings } from "../server/auth.ts";
import { originFlaw } from "../origin.ts";
import { BACK_END_CHOICES, type BackEndChoice } from "../sandbox/back_end_choice.ts";
import { requireSense } from "./argument_rules.ts";
import { ArgumentReader, type Arguments, type OptionSpec } from "./arguments.ts";
import { durationFlaw, parseDuration } from "./duration.ts";
import { withVariable } from "./exit_on_stdin_close.ts";
import { type ListenTarget, parseListenUrl } from "./listen_url.ts";
import { REMOTE_OPTIONS } from "./remote_specs.ts";
import { UsageError } from "./usage_error.ts";

/** What the command line asks for. */
export type ServeCommand =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "serve"; readonly options: ServeOptions }
  | { readonly kind: "remote"; readonly options: RemoteServeOptions }
  /** The command of that name, what follows it, and what stands before it without effect. */
  | { readonly kind: "forward"; readonly argv: readonly string[]; readonly idle: readonly string[] };

export interface ServeOptions {
  readonly listen: ListenTarget;
  /** At least 1. */
  readonly concurrentRequests: number;
  /** Never set together with stdio. */
  readonly auth: AuthSettings | null;
  /** The web pages that may connect, by their origins. Empty with stdio. */
  readonly allowedOrigins: readonly string[];
  /** The longest that a session may be kept without a connection, in milliseconds; 0: no longer than the usual 80 s. */
  readonly maxDetachedMs: number;
  readonly sandbox: BackEndChoice;
  readonly logLevel: LogLevel;
  /** Given, and without effect in local mode. */
  readonly idle: readonly string[];
}

/** Remote mode, as far as the server is concerned. */
export interface RemoteServeOptions {
  readonly concurrentRequests: number;
  readonly maxDetachedMs: number;
  readonly sandbox: BackEndChoice;
  /** Everything that was given; what a variable stands for is among it. */
  readonly args: Arguments;
  readonly trustedRegistries: readonly string[];
}

const DEFAULT_LISTEN = "ws://127.0.0.1:0";
/** The reference says nothing while all is well. */
const DEFAULT_LOG_LEVEL = "warn";
const DEFAULT_MAX_DETACHED = "24h";
const DEFAULT_SANDBOX = "auto";
const DEFAULT_SKEW_SECONDS = "30";
const LARGEST_U64 = 2n ** 64n - 1n;

const MODES = ["capability-token", "signed-bearer-token"] as const;
const TOKEN_OPTIONS = ["--ws-token-file", "--ws-token-sha256"];
const SIGNED_OPTIONS = ["--ws-shared-secret-file", "--ws-issuer", "--ws-audience", "--ws-max-clock-skew-seconds"];

/** All that the server takes. */
export const SERVER_OPTIONS: readonly OptionSpec[] = [
  { name: "--concurrent-requests", value: "<COUNT>", check: (value) => countFlaw(value, 1n) },
  { name: "--listen", value: "<URL>" },
  { name: "--ws-auth", value: "<MODE>", choices: MODES },
  { name: "--ws-token-file", value: "<PATH>", notEmpty: true },
  { name: "--ws-token-sha256", value: "<HEX>" },
  { name: "--ws-shared-secret-file", value: "<PATH>", notEmpty: true },
  { name: "--ws-issuer", value: "<ISSUER>" },
  { name: "--ws-audience", value: "<AUDIENCE>" },
  { name: "--ws-max-clock-skew-seconds", value: "<SECONDS>", check: (value) => countFlaw(value, 0n) },
  { name: "--allow-origin", value: "<ORIGIN>", check: originFlaw, repeatable: true },
  { name: "--max-detached", value: "<DURATION>", check: maxDetachedFlaw },
  { name: "--sandbox", value: "<MODE>", choices: BACK_END_CHOICES },
  ...REMOTE_OPTIONS,
  { name: "--log-level", value: "<LEVEL>", choices: LOG_LEVELS },
  { name: "--help", short: "-h", final: true },
  { name: "--version", short: "-V", final: true },
];

/**
 * Reads the server's command line. Files that it names are not looked at.
 *
 * @param argv Without the program.
 * @param env The value of an environment variable, if it is set.
 * @throws {UsageError} With the reference's words, in the reference's order of checks.
 */
export function parseServeOptions(argv: readonly string[], env: (name: string) => string | undefined): ServeCommand {
  const reader = new ArgumentReader("exec-server", SERVER_OPTIONS, { command: "forward" });
  const args = reader.read(argv);
  if (args.has("--help")) return { kind: "help" };
  if (args.has("--version")) return { kind: "version" };
  const forwards = reader.commandArguments;
  const whole = forwards === undefined ? withVariable(reader, args, env) : args;
  requireSense(reader, whole);
  if (args.has("--aws-sigv4") && args.get("--remote-transport") !== "direct") {
    throw failure("--aws-sigv4 requires --remote-transport direct");
  }
  const auth = authSettings(args);
  if (forwards !== undefined) {
    refuseListener(args, auth);
    const level = args.get("--log-level");
    const argv = level === undefined ? forwards : [`--log-level=${level}`, ...forwards];
    return { kind: "forward", argv, idle: [...args.keys()].filter((name) => name !== "--log-level") };
  }
  const concurrentRequests = Number(args.get("--concurrent-requests") ?? 1);
  const maxDetachedMs = parseDuration(args.get("--max-detached") ?? DEFAULT_MAX_DETACHED) ?? 0;
  const sandbox = (args.get("--sandbox") ?? DEFAULT_SANDBOX) as BackEndChoice;
  if (args.has("--remote")) {
    refuseListener(args, auth);
    const trustedRegistries = reader.all("--trust-registry");
    return { kind: "remote", options: { concurrentRequests, maxDetachedMs, sandbox, args: whole, trustedRegistries } };
  }
  const listen = parseListenUrl(args.get("--listen") ?? DEFAULT_LISTEN);
  if (auth !== null && listen.kind === "stdio") {
    throw failure("WebSocket auth requires a WebSocket listener, not stdio");
  }
  if (listen.kind === "stdio") refuseWithStdio(args);
  return {
    kind: "serve",
    options: {
      listen,
      concurrentRequests,
      auth,
      allowedOrigins: reader.all("--allow-origin"),
      maxDetachedMs: listen.kind === "stdio" ? 0 : maxDetachedMs,
      sandbox,
      logLevel: (args.get("--log-level") ?? DEFAULT_LOG_LEVEL) as LogLevel,
      idle: ["--environment-id", "--name"].filter((name) => args.has(name)),
    },
  };
}

function maxDetachedFlaw(value: string): string | undefined {
  const flaw = value === "0" ? undefined : durationFlaw(value);
  return flaw === undefined ? undefined : `${flaw}; or 0 for none`;
}

/** A stdio server has one client, which started it, and ends with it. */
function refuseWithStdio(args: Arguments): void {
  for (const name of ["--allow-origin", "--max-detached"]) {
    if (args.has(name)) throw failure(`\`${name}\` requires a WebSocket listener, not stdio`);
  }
}

function refuseListener(args: Arguments, auth: AuthSettings | null): void {
  if (auth !== null) throw failure("WebSocket listener auth cannot be used with --remote or forward");
  if (args.has("--allow-origin")) throw failure("`--allow-origin` cannot be used with --remote or forward");
}

function authSettings(args: Arguments): AuthSettings | null {
  const hasTokenOptions = TOKEN_OPTIONS.some((name) => args.has(name));
  const hasSignedOptions = SIGNED_OPTIONS.some((name) => args.has(name));
  const mode = args.get("--ws-auth") as typeof MODES[number] | undefined;
  if (mode === undefined) {
    if (!hasTokenOptions && !hasSignedOptions) return null;
    throw failure(
      "websocket auth flags require `--ws-auth capability-token` or `--ws-auth signed-bearer-token`",
    );
  }
  if (mode === "capability-token") {
    if (hasSignedOptions) {
      throw failure(
        "`--ws-shared-secret-file`, `--ws-issuer`, `--ws-audience`, and `--ws-max-clock-skew-seconds` require " +
          "`--ws-auth signed-bearer-token`",
      );
    }
    return { mode, token: tokenSource(args) };
  }
  if (hasTokenOptions) {
    throw failure(
      "`--ws-token-file` and `--ws-token-sha256` require `--ws-auth capability-token`, not `signed-bearer-token`",
    );
  }
  const secretFile = args.get("--ws-shared-secret-file");
  if (secretFile === undefined) {
    throw failure("`--ws-shared-secret-file` is required when `--ws-auth signed-bearer-token` is set");
  }
  return {
    mode,
    secretFile,
    issuer: args.get("--ws-issuer")?.trim() || null,
    audience: args.get("--ws-audience")?.trim() || null,
    maxClockSkewSeconds: toBigInt(args.get("--ws-max-clock-skew-seconds") ?? DEFAULT_SKEW_SECONDS),
  };
}

function tokenSource(args: Arguments): { file: string } | { sha256: string } {
  const file = args.get("--ws-token-file");
  const sha256 = args.get("--ws-token-sha256")?.trim();
  if (file !== undefined && sha256 !== undefined) {
    throw failure("`--ws-token-file` and `--ws-token-sha256` are mutually exclusive");
  }
  if (file !== undefined) return { file };
  if (sha256 === undefined) {
    throw failure(
      "`--ws-token-file` or `--ws-token-sha256` is required when `--ws-auth capability-token` is set",
    );
  }
  if (!/^[0-9a-f]{64}$/i.test(sha256)) throw failure("--ws-token-sha256 must be a 64-character hex SHA-256 digest");
  return { sha256 };
}

/** What is wrong with an unsigned 64-bit number, in the words of the reference's standard library. */
function countFlaw(value: string, least: bigint): string | undefined {
  if (value === "") return "cannot parse integer from empty string";
  if (!/^\+?\d+$/.test(value)) return "invalid digit found in string";
  const number = toBigInt(value);
  if (number > LARGEST_U64) return "number too large to fit in target type";
  return number < least ? "number would be zero for non-zero type" : undefined;
}

/** A plus sign is allowed on the command line and not in JavaScript. */
function toBigInt(digits: string): bigint {
  return BigInt(digits.replace("+", ""));
}

function failure(sentence: string): UsageError {
  return new UsageError(1, `Error: ${sentence}`);
}
