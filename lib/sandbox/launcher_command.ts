/** How this program starts its launcher, the hidden part of itself that confines itself and becomes another program. */

import { hiddenWord } from "./hidden_word.ts";

/** The first argument that makes the compiled program its launcher. Documented nowhere: only we say it. */
export const LAUNCHER_WORD = "__sandbox-launch";

/** The number under which the launcher finds its plan, see `launcher/plan_file.ts`. */
export const PLAN_DESCRIPTOR = 3;

/** What to start; nothing else is needed of our own environment, so nothing else is handed on. */
export interface LauncherCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What is asked of the machine. */
export interface LauncherHost {
  readonly isCompiled: boolean;
  readonly program: string;
  variable(name: string): string | undefined;
}

export const THIS_HOST: LauncherHost = {
  isCompiled: Deno.build.standalone,
  program: Deno.execPath(),
  variable: (name) => Deno.env.get(name),
};

/** Where Deno looks for what it has compiled before; without it each launch would compile again. */
const CACHE_VARIABLES = ["DENO_DIR", "XDG_CACHE_HOME", "HOME"];

/**
 * The launcher alone. It is `main.ts` of its own folder under `deno run`, where that is a file, and a word to ourselves
 * where everything is one executable.
 */
export function launcherCommand(host: LauncherHost = THIS_HOST): LauncherCommand {
  if (host.isCompiled) return { argv: [host.program, hiddenWord(LAUNCHER_WORD), String(PLAN_DESCRIPTOR)], env: {} };
  const module = new URL("launcher/main.ts", import.meta.url).href;
  const env: Record<string, string> = { DENO_NO_UPDATE_CHECK: "1" };
  for (const name of CACHE_VARIABLES) {
    const value = host.variable(name);
    if (value !== undefined) env[name] = value;
  }
  const flags = ["run", "--quiet", "--no-config", "--no-lock", "--no-prompt", "--no-code-cache", "--allow-ffi"];
  return { argv: [host.program, ...flags, module, String(PLAN_DESCRIPTOR)], env };
}
