import { fromBytes, toBytes } from "../../sandbox/byte_path.ts";
import { openedForReading, openedForReplacing } from "../linux/open_file.ts";
import { readOpened } from "../linux/read_file.ts";
import { writeOpened } from "../linux/write_file.ts";
import type { Caller, FileOperations, NativePath } from "../operations.ts";
import type { Deed, Results } from "./messages.ts";

/** Has something done inside. */
export type Do = <D extends Deed>(deed: D, signal: AbortSignal) => Promise<Results[D["do"]]>;

/** Operations that are done inside. What is in a file never goes that way: it is opened there, and the rest is done here. */
export function confinedOperations(doInside: Do): FileOperations {
  const open = (
    path: NativePath,
    access: "reading" | "writing",
    followSymlinks: boolean,
    { signal }: Caller,
  ): Promise<number> => doInside({ do: "open", path: fromBytes(path), access, followSymlinks }, signal);
  return {
    async readFile(path, followSymlinks, caller) {
      return await readOpened(await open(path, "reading", followSymlinks, caller), path, followSymlinks, caller.signal);
    },
    async openForReading(path, caller) {
      return openedForReading(await open(path, "reading", true, caller), path);
    },
    async openForReplacing(path, caller) {
      return await openedForReplacing(await open(path, "writing", true, caller), path, caller.signal);
    },
    async writeFile(path, bytes, followSymlinks, caller) {
      const fd = await open(path, "writing", followSymlinks, caller);
      await writeOpened(fd, bytes, followSymlinks, caller.signal);
    },
    async createDirectory(path, options, { signal }) {
      await doInside({ do: "createDirectory", path: fromBytes(path), options }, signal);
    },
    getMetadata: (path, followSymlinks, { signal }) =>
      doInside({ do: "getMetadata", path: fromBytes(path), followSymlinks }, signal),
    async canonicalize(path, { signal }) {
      return toBytes(await doInside({ do: "canonicalize", path: fromBytes(path) }, signal));
    },
    readDirectory: (path, { signal }) => doInside({ do: "readDirectory", path: fromBytes(path) }, signal),
    walk: (path, options, { signal }) => doInside({ do: "walk", path: fromBytes(path), options }, signal),
    async remove(path, options, { signal }) {
      await doInside({ do: "remove", path: fromBytes(path), options }, signal);
    },
    async copy(source, destination, recursive, { signal }) {
      const deed = { do: "copy", source: fromBytes(source), destination: fromBytes(destination), recursive } as const;
      await doInside(deed, signal);
    },
    watchMissing() {
      throw new Error("nothing can be watched from inside of a sandbox");
    },
  };
}
