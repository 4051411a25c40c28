import type { Params } from "../protocol/methods.ts";

type WalkLimits = Params<"fs/walk">["options"];

/** The most that a server allows. Source: the reference's figures. */
const MOST: WalkLimits = {
  maxDepth: 64,
  maxDirectories: 10_000,
  maxEntries: 50_000,
  followDirectorySymlinks: false,
  pruneHiddenDirectories: false,
};

/** What a walk is to be held to, where the caller says nothing. */
export function walkLimits({
  maxDepth = MOST.maxDepth,
  maxDirectories = MOST.maxDirectories,
  maxEntries = MOST.maxEntries,
  followDirectorySymlinks = MOST.followDirectorySymlinks,
  pruneHiddenDirectories = MOST.pruneHiddenDirectories,
}: Partial<WalkLimits>): WalkLimits {
  return { maxDepth, maxDirectories, maxEntries, followDirectorySymlinks, pruneHiddenDirectories };
}
