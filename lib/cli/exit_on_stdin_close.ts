import type { ArgumentReader, Arguments } from "./arguments.ts";

export const EXIT_ON_STDIN_CLOSE = "--exit-on-stdin-close";
/** Says `true` for {@linkcode EXIT_ON_STDIN_CLOSE}. */
export const EXIT_ON_STDIN_CLOSE_VARIABLE = "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE";

/**
 * What was given, with the option at its end if the variable says so.
 *
 * @throws {UsageError} The variable says something else than `true` or `false`.
 */
export function withVariable(
  reader: ArgumentReader,
  args: Arguments,
  env: (name: string) => string | undefined,
): Arguments {
  const value = env(EXIT_ON_STDIN_CLOSE_VARIABLE);
  if (args.has(EXIT_ON_STDIN_CLOSE) || value === undefined) return args;
  const says = reader.check({ name: EXIT_ON_STDIN_CLOSE, choices: ["true", "false"] }, value);
  return says === "true" ? new Map([...args, [EXIT_ON_STDIN_CLOSE, ""]]) : args;
}
