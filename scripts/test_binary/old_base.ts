import type { Excuses } from "./suite.ts";

const NO_TRY_LOCK = "Deno.FsFile has no tryLock, without which nothing is downloaded into a file";
const NO_HEADERS = "WebSocket takes no headers, so no token can be shown";
const WARNS_OF_HMAC = "node:crypto warns of its own Hmac on stderr (DEP0181)";

/**
 * Cases that fail on bases before 2.8, and what those lack. All else is a fault of ours, or of the way we are compiled.
 * (Seen on 2.4.2, of which the source fails in the same way. With the locks taken out all cases of `cp` pass there.)
 */
export const OLD_BASE: Excuses = [
  [/^http-(buffered|header-env-var|proxy-env|redirects)$/, "no zstd in node:zlib"],
  [/^cp brings a file of 20 MB and fetches it, with its permission bits \(/, NO_TRY_LOCK],
  [/^cp goes by the rules of cp for directories, existing files and links \(/, NO_TRY_LOCK],
  [/^cp fetches what has no size, and names that only bytes can say \(/, NO_TRY_LOCK],
  [/^cp from the environment to a full disk says so, and leaves nothing$/, NO_TRY_LOCK],
  // Against the reference only trees are copied.
  [/^cp needs no more memory for a large file, or a large tree, than for a small one \(ours\)$/, NO_TRY_LOCK],
  [/^an interrupted download is continued by the same command, if the source is the same \(/, NO_TRY_LOCK],
  [/^a download goes on over a connection that is cut \(/, NO_TRY_LOCK],
  [/^cp on a terminal shows a bar and takes it away, and Ctrl-C leaves a download to be continued \(/, NO_TRY_LOCK],
  [/^cp copies a tree file by file where the other side has no tar, and says what was not kept$/, NO_TRY_LOCK],
  [/^cp puts a file in place by a copy where the other side has no programs at all$/, NO_TRY_LOCK],
  [/^doctor says what is wrong with a token, and never the token$/, NO_HEADERS],
  [/^a token comes from a file or from a variable, and only the right one is let in$/, NO_HEADERS],
  [/^exec, ls, cat and cp reach the environment of a registry$/, WARNS_OF_HMAC],
  [/^a program is left running, and attached to over a lost connection$/, WARNS_OF_HMAC],
  [/^kill ends a program that was left running$/, WARNS_OF_HMAC],
  [
    /^a server that ran out of descriptors keeps its connections and takes new ones when it has some again$/,
    "Deno.serve tells that it listens no more only when its last connection has ended",
  ],
];
