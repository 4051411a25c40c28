/**
 * What an operator sees: one line per event on stderr, `TIME LEVEL message key=value …`.
 *
 * Never pass contents of commands, environments, files or bodies, nor tokens: a field is an id, a count, a size, a
 * duration, an address or a reason.
 */

/** From silence to everything. */
export const LOG_LEVELS = ["off", "error", "warn", "info", "debug"] as const;
export type LogLevel = typeof LOG_LEVELS[number];
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Log {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
}

/**
 * A log that writes lines of `level` and above to stderr.
 *
 * @param level Lines below it cost one comparison.
 * @param write Takes one finished line, newline included; replaced in tests.
 */
export function createLog(level: LogLevel, write: (line: string) => void = writeToStderr): Log {
  const threshold = LOG_LEVELS.indexOf(level);
  const at = (rank: number, name: string) => (message: string, fields?: LogFields): void => {
    if (rank <= threshold) write(formatLine(name, message, fields));
  };
  return { error: at(1, "ERROR"), warn: at(2, "WARN"), info: at(3, "INFO"), debug: at(4, "DEBUG") };
}

/** A log that hears and says nothing. */
export const silentLog: Log = createLog("off");

function formatLine(level: string, message: string, fields: LogFields = {}): string {
  let line = `${new Date().toISOString()} ${level} ${message}`;
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) line += ` ${key}=${typeof value === "string" ? quoteIfNeeded(value) : value}`;
  }
  return line + "\n";
}

/** What JSON leaves as it is, though a terminal may take it for a command or a viewer for the end of the line. */
const LEFT_BY_JSON = /[\x7f-\x9f\u2028\u2029]/g;

/** A value that would break the `key=value` form, or the line, is written as a JSON string. */
function quoteIfNeeded(value: string): string {
  if (/^[\w.:/@+\-[\]]+$/.test(value)) return value;
  return JSON.stringify(value).replace(
    LEFT_BY_JSON,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Waits for whoever reads stderr; where there is no stderr that takes bytes, the console gets the line. */
export function writeToStderr(line: string): void {
  const { Deno } = globalThis as { Deno?: { readonly stderr: { writeSync(bytes: Uint8Array): number } } };
  if (Deno === undefined) return console.error(line.trimEnd());
  let rest = new TextEncoder().encode(line);
  try {
    while (rest.length > 0) rest = rest.subarray(Deno.stderr.writeSync(rest));
  } catch {
    // Nobody can be told that stderr is gone: the log is the last resort, and no reason to end the server.
  }
}
