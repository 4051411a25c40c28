/**
 * The hidden parts of the one executable: what confines itself and becomes another program, and the like. Under
 * `deno run` they are programs of their own. This file needs nothing of the server, because its time is theirs.
 */

import { FILES_HELPER_WORD } from "../fs/sandboxed/helper_word.ts";
import { LAUNCHER_WORD } from "../sandbox/launcher_command.ts";
import { PROBE_WORD } from "../sandbox/probe_command.ts";

/**
 * Runs the part that the arguments ask for. A compiled program in which a server is embedded does this before everything
 * else, or it has no sandbox to offer.
 *
 * @returns Whether there is such a part: it has ended then, and nothing else is to be done.
 */
export async function runHiddenPart(args: readonly string[]): Promise<boolean> {
  switch (args[0]) {
    case LAUNCHER_WORD:
      await import("../sandbox/launcher/main.ts");
      return true;
    case PROBE_WORD:
      await import("../sandbox/probe/main.ts");
      return true;
    case FILES_HELPER_WORD:
      await import("../fs/sandboxed/helper/main.ts");
      return true;
    default:
      return false;
  }
}
