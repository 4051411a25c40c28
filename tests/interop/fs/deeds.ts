/** What somebody else does to the files of both sides meanwhile. */
import type { Guard } from "./guard.ts";
import * as posix from "./posix.ts";
import type { BytePath } from "./posix.ts";
import { content } from "./tree.ts";

/** Paths are relative to the tree. */
export type Deed =
  | { readonly do: "write"; readonly path: BytePath; readonly size: number; readonly offset: number }
  | { readonly do: "truncate"; readonly path: BytePath; readonly size: number }
  | { readonly do: "mkdir" | "unlink" | "rmdir" | "link" | "appear and vanish"; readonly path: BytePath }
  | { readonly do: "rename"; readonly path: BytePath; readonly to: BytePath }
  | { readonly do: "chmod"; readonly path: BytePath; readonly mode: number };

/** Where a new link leads: to a neighbour that is not there. */
const TARGET = "nowhere";

/** @returns Why it must not be done in this tree, or null if it may. */
export function deedRefusal(deed: Deed, tree: BytePath, guard: Guard): string | null {
  const place = `${tree}/${deed.path}`;
  if (deed.do === "link" && guard.pathRefusal(place.replace(/[^/]*$/, TARGET)) !== null) {
    return "the link leads outside";
  }
  if (deed.do !== "rename") return guard.pathRefusal(place);
  return guard.moveRefusal(place, `${tree}/${deed.to}`);
}

/** @returns What came of it, for comparison. */
export function perform(deed: Deed, tree: BytePath): string {
  try {
    act(deed, tree);
    return "done";
  } catch (error) {
    if (error instanceof posix.PosixError) return `errno ${error.errno}`;
    throw error;
  }
}

function act(deed: Deed, tree: BytePath): void {
  const place = `${tree}/${deed.path}`;
  switch (deed.do) {
    case "write":
      return posix.write(place, content(deed.size), deed.offset);
    case "truncate":
      return posix.truncate(place, deed.size);
    case "mkdir":
      return posix.mkdir(place);
    case "link":
      return posix.symlink(TARGET, place);
    case "unlink":
      return posix.unlink(place);
    case "rmdir":
      return posix.rmdir(place);
    case "rename":
      return posix.rename(place, `${tree}/${deed.to}`);
    case "chmod":
      if (posix.lstat(place)?.kind !== "link") posix.chmod(place, deed.mode);
      return;
    case "appear and vanish":
      posix.mkdir(place);
      posix.rmdir(place);
  }
}
