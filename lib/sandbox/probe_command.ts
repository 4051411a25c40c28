/** How this program starts its probe, the hidden part of itself that tries what a sandbox should prevent. */

import { hiddenWord } from "./hidden_word.ts";
import { type LauncherCommand, launcherCommand, type LauncherHost } from "./launcher_command.ts";

/** The first argument that makes the compiled program its probe. Documented nowhere: only we say it. */
export const PROBE_WORD = "__sandbox-probe";

/** What to start inside; the attempts follow as one argument. */
export function probeCommand(host?: LauncherHost): LauncherCommand {
  const launcher = launcherCommand(host);
  // In the place of the launcher's own part and its descriptor.
  const before = launcher.argv.slice(0, -2);
  const module = new URL("probe/main.ts", import.meta.url).href;
  const isCompiled = host?.isCompiled ?? Deno.build.standalone;
  return { ...launcher, argv: [...before, isCompiled ? hiddenWord(PROBE_WORD) : module] };
}
