/**
 * The hidden parts of the one executable: what confines itself and becomes another program, and the like. Under
 * `deno run` they are programs of their own. This file needs nothing of the server, because its time is theirs.
 */

import { FILES_HELPER_WORD } from "../fs/sandboxed/helper_word.ts";
import { readHiddenWord } from "../sandbox/hidden_word.ts";
import { LAUNCHER_WORD } from "../sandbox/launcher_command.ts";
import { PROBE_WORD } from "../sandbox/probe_command.ts";

const PARTS: ReadonlyMap<string, () => Promise<unknown>> = new Map([
  [LAUNCHER_WORD, () => import("../sandbox/launcher/main.ts")],
  [PROBE_WORD, () => import("../sandbox/probe/main.ts")],
  [FILES_HELPER_WORD, () => import("../fs/sandboxed/helper/main.ts")],
]);

/** As each of the parts ends when it cannot do what it is told. */
const NOT_DONE = 126;

/**
 * Runs the part that the arguments ask for. A compiled program in which a server is embedded does this before everything
 * else, or it has no sandbox to offer.
 *
 * @returns Whether there is such a part: it has ended then, and nothing else is to be done.
 */
export async function runHiddenPart(args: readonly string[]): Promise<boolean> {
  const { word, fault } = readHiddenWord(args[0]);
  const part = PARTS.get(word);
  if (part === undefined) return false;
  if (fault === undefined) await part();
  else {
    console.error(`sandbox: ${fault}`);
    Deno.exitCode = NOT_DONE;
  }
  return true;
}
