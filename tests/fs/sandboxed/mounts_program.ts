/**
 * What files and programs in sandboxes see of mounts that were made after their helpers have begun to wait. To be run as
 * root of a mount namespace of its own; started by `late_mounts_test.ts`.
 */

import { BACK_END_NAMES, type BackEndName } from "../../../lib/sandbox/back_end_choice.ts";
import { bytesOf } from "../scratch.ts";
import { caller, ConfinedPlace } from "./confined_place.ts";

const backEnd = BACK_END_NAMES.find((name) => name === Deno.args[0]) as BackEndName;
const place = await ConfinedPlace.create(backEnd);
const mounted = place.in("mounted");
const files = place.under();

async function seen(): Promise<Record<string, string>> {
  const entries = await files.readDirectory(bytesOf(mounted), caller);
  const enforcement = await place.own.enforcement();
  const { stdout } = await place.own.run(enforcement, `ls ${mounted}`);
  // Time for the next launcher to begin.
  await new Promise((resolve) => setTimeout(resolve, 5));
  return { files: entries.map(({ fileName }) => fileName).join(), program: stdout.trim() };
}

async function run(program: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

Deno.mkdirSync(mounted);
Deno.writeTextFileSync(`${mounted}/below`, "");
const before = await seen();
await run("mount", "-t", "tmpfs", "none", mounted);
Deno.writeTextFileSync(`${mounted}/above`, "");
const covered = await seen();
await run("umount", mounted);
const uncovered = await seen();
console.log(JSON.stringify({ before, covered, uncovered }));
place.files[Symbol.dispose]();
await place.files.left();
place.own[Symbol.dispose]();
