/**
 * A server of files that is killed, with a helper that waits, or one in the middle of something. Says where it works and
 * which process the helper is; started by `helper_end_test.ts`.
 */

import type { BackEndName } from "../../../lib/sandbox/back_end_choice.ts";
import { bytesOf } from "../scratch.ts";
import { caller, ConfinedPlace, READ_ALL } from "./confined_place.ts";

const [backEnd, what] = Deno.args as [BackEndName, "idle" | "busy"];
/** More than a second's work. */
const FILES = 20_000;

const place = await ConfinedPlace.create(backEnd);
if (what === "busy") {
  Deno.mkdirSync(place.in("source"));
  Deno.writeTextFileSync(place.in("source/0"), "x");
  for (let count = 1; count < FILES; count++) Deno.linkSync(place.in("source/0"), place.in(`source/${count}`));
}
const files = place.under(backEnd === "landlock" ? [READ_ALL] : undefined);
await files.getMetadata(bytesOf("/"), true, caller);
if (what === "busy") void files.copy(bytesOf(place.in("source")), bytesOf(place.in("target")), true, caller);
console.log(JSON.stringify({ root: place.own.root, helpers: place.helpers() }));
await new Promise((resolve) => setTimeout(resolve, 60_000));
