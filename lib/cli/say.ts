import type { Clock } from "../clock.ts";
import { type Cli, type Output, ReaderGoneError } from "./command.ts";

/** The option of every command that prints data. */
export const JSON_OPTION = {
  name: "--json",
  help:
    "Print data as JSON, one value on a line, for programs. What goes wrong is still said in words on standard error.",
} as const;

/** One value on a line of stdout. */
export async function printJson(cli: Cli, value: unknown): Promise<void> {
  await cli.stdout.write(JSON.stringify(value) + "\n");
}

/** Says something of ours on stderr, with our name before it. For what went wrong, or not as might be thought. */
export async function say(cli: Cli, text: string): Promise<void> {
  await cli.stderr.write(onTerminal(cli, `exec-server: ${printableLines(cli.stderr, text)}\n`));
}

/** What to type next, or what just happens: only for people, that is on a terminal. */
export async function hint(cli: Cli, text: string): Promise<void> {
  if (!cli.stderr.isTerminal) return;
  const paint = painter(cli, cli.stderr);
  await cli.stderr.write(onTerminal(cli, text.split("\n").map((line) => paint("dim", line) + "\n").join("")));
}

/** What is being said aside. */
const asides = new Set<Promise<void>>();
/** How long the end of a command waits for a reader of what it has said aside, in milliseconds. */
const PATIENCE_MS = 1_000;

/** Says or hints where nobody waits for it. That stderr is gone is no reason to stop what we do. */
export function aside(saying: Promise<void>): void {
  const said = saying.catch((error) => {
    if (!(error instanceof ReaderGoneError)) throw error;
  }).finally(() => asides.delete(said));
  asides.add(said);
}

/** For the end of the program: resolves when what was said aside has been written, or nobody seems to read it. */
export async function asidesSaid(clock: Clock): Promise<void> {
  if (asides.size === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = clock.after(PATIENCE_MS, resolve);
  await Promise.race([Promise.allSettled(asides), promise]);
  timer.cancel();
}

function onTerminal(cli: Cli, text: string): string {
  return cli.isRaw ? text.replaceAll("\n", "\r\n") : text;
}

const STYLES = { bold: 1, dim: 2, underline: 4, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;
export type Style = keyof typeof STYLES;

/** Colours a text, if `output` is a terminal that shows colours and NO_COLOR does not forbid it. */
export function painter(cli: Cli, output: Output): (style: Style, text: string) => string {
  const isOn = output.isTerminal && !cli.env("NO_COLOR") && cli.env("TERM") !== "dumb";
  return (style, text) => (isOn && text !== "" ? `\x1b[${STYLES[style]}m${text}\x1b[0m` : text);
}

/**
 * A name from the other side for a terminal: control characters, which may be commands to it, are shown as escapes.
 * Only where `output` is a terminal; a pipe gets what there is.
 */
export function printable(output: Output, text: string): string {
  if (!output.isTerminal) return text;
  // deno-lint-ignore no-control-regex -- they are what is looked for
  return text.replaceAll(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (char) => {
    const code = char.charCodeAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
  });
}

/** The same for a text of several lines, in which names, or words of the other side, may be. */
export function printableLines(output: Output, text: string): string {
  return text.split("\n").map((line) => printable(output, line)).join("\n");
}
