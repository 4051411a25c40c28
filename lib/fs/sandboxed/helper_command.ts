/** How this program starts its file helper, the hidden part of itself that works on files inside of sandboxes. */

import { hiddenWord } from "../../sandbox/hidden_word.ts";
import { type LauncherCommand, launcherCommand, type LauncherHost } from "../../sandbox/launcher_command.ts";
import { FILES_HELPER_WORD } from "./helper_word.ts";
import { HELPER_DESCRIPTOR } from "./messages.ts";

/** What to start, with the connection as {@linkcode HELPER_DESCRIPTOR}. */
export function helperCommand(host?: LauncherHost): LauncherCommand {
  const launcher = launcherCommand(host);
  // In the place of the launcher's own part and its descriptor.
  const before = launcher.argv.slice(0, -2);
  const module = new URL("helper/main.ts", import.meta.url).href;
  const isCompiled = host?.isCompiled ?? Deno.build.standalone;
  return {
    ...launcher,
    argv: [...before, isCompiled ? hiddenWord(FILES_HELPER_WORD) : module, String(HELPER_DESCRIPTOR)],
  };
}
