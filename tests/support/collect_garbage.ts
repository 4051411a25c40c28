import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

let collect: (() => void) | undefined;

/** Lets the engine find out what nobody can reach any more, until `done` says that it is enough. */
export async function collectGarbage(done: () => boolean): Promise<void> {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  while (!done()) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
