import type { Params } from "../protocol/methods.ts";
import { ClientError, protocolError, unsupported } from "./client_error.ts";
import type { Core } from "./core.ts";
import { toPathUri } from "./environment_path.ts";
import type { StartOptions } from "./process.ts";
import { randomId } from "./random_id.ts";

/** One start, as it will be sent. */
export type StartRequest =
  | { readonly method: "process/start"; readonly params: Params<"process/start"> }
  | { readonly method: "execServer/process/start"; readonly params: Params<"execServer/process/start"> };

const STOCK_ROWS = 24, STOCK_COLUMNS = 80;

/**
 * What has to be sent to start a program. The extension is used only for what the stock method cannot say.
 *
 * @throws {ClientError} `configuration`: the options contradict themselves; `unsupported`: this server cannot do it.
 * @throws {TypeError} The directory is no path of the environment.
 */
export async function startRequest(
  core: Pick<Core, "info" | "hasExtensions">,
  options: StartOptions,
): Promise<StartRequest> {
  checkTexts("argv", options.argv);
  checkTexts("env", options.env ?? {});
  checkDecider(options);
  const info = await core.info(options.signal === undefined ? {} : { signal: options.signal });
  const cwd = options.cwd ?? info.cwd;
  if (cwd === null) throw configuration("the server does not tell its directory, so that cwd must be given");
  const params: Params<"process/start"> = {
    processId: options.processId ?? randomId(),
    metadata: options.metadata ?? null,
    argv: options.argv,
    cwd: toPathUri(cwd, info),
    envPolicy: envPolicy(options),
    shellSnapshot: options.shellSnapshot ?? null,
    env: new Map(Object.entries(options.env ?? {})),
    tty: options.tty !== undefined && options.tty !== false,
    pipeStdin: options.stdin ?? false,
    arg0: options.arg0 ?? null,
    sandbox: options.sandbox ?? null,
    enforceManagedNetwork: options.enforceManagedNetwork ?? false,
    managedNetwork: options.managedNetwork ?? null,
    networkProxy: options.networkProxy ?? null,
  };
  const terminalSize = unusualSize(options.tty);
  const timeLimitMs = options.timeLimitMs ?? null;
  if (terminalSize === null && timeLimitMs === null) return { method: "process/start", params };
  if (timeLimitMs !== null) checkWhole("timeLimitMs", timeLimitMs, Number.MAX_SAFE_INTEGER);
  if (!await core.hasExtensions()) {
    throw unsupported(
      timeLimitMs !== null
        ? "this server cannot limit the time of a program"
        : `this server has only terminals of ${STOCK_ROWS} rows and ${STOCK_COLUMNS} columns`,
    );
  }
  return { method: "execServer/process/start", params: { ...params, terminalSize, timeLimitMs } };
}

function envPolicy({ envPolicy, inherit }: StartOptions): Params<"process/start">["envPolicy"] {
  if (envPolicy === undefined) {
    const set = new Map<string, string>();
    return { inherit: inherit ?? "core", ignoreDefaultExcludes: true, exclude: [], set, includeOnly: [] };
  }
  if (inherit !== undefined) throw configuration("inherit is part of envPolicy: only one of them can be given");
  return envPolicy;
}

function unusualSize(tty: StartOptions["tty"]): { rows: number; columns: number } | null {
  if (typeof tty !== "object") return null;
  const { rows, columns } = tty;
  checkTerminalSize({ rows, columns });
  return rows === STOCK_ROWS && columns === STOCK_COLUMNS ? null : { rows, columns };
}

/** @throws {ClientError} `configuration`: no terminal has such a size. */
export function checkTerminalSize({ rows, columns }: { rows: number; columns: number }): void {
  checkWhole("rows", rows, 0xffff);
  checkWhole("columns", columns, 0xffff);
}

function checkWhole(name: string, value: number, max: number): void {
  if (!Number.isSafeInteger(value) || value < 1 || value > max) {
    throw configuration(`${name} must be a whole number from 1 to ${max}, not ${value}`);
  }
}

/** Programs without types, too, are to hear which of their values is none. */
function checkTexts(name: string, values: readonly unknown[] | Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(values)) {
    if (typeof value === "string") continue;
    const place = Array.isArray(values) ? `[${key}]` : `.${key}`;
    throw configuration(`${name}${place} must be a string, not ${value === null ? "null" : typeof value}`);
  }
}

function checkDecider({ networkDecider, networkProxy }: StartOptions): void {
  const timeoutMs = networkProxy?.policyDecisionTimeoutMs ?? null;
  if (networkDecider === undefined ? timeoutMs !== null : !(timeoutMs !== null && timeoutMs > 0)) {
    throw protocolError("network policy decision callback timeout must match the configured decider and be nonzero");
  }
}

function configuration(detail: string): ClientError {
  return new ClientError("configuration", detail);
}
