/** What the special path `minimal` stands for: what programs need to run at all. Nothing missing is missed. */

import type { SpelledEntry } from "./spelled_entries.ts";

export const LINUX_RUNTIME: readonly SpelledEntry[] = reading("/bin", "/etc", "/lib", "/lib64", "/sbin", "/usr");

/**
 * The system's own programs, libraries, settings and applications. There is no empty place of one's own there as in the
 * views of Linux, so what programs take for their temporary files has to be the machine's. Source: the reference's list.
 */
export const MACOS_RUNTIME: readonly SpelledEntry[] = [
  ...reading("/bin", "/sbin", "/usr", "/etc", "/var/db", "/opt/homebrew/lib", "/Applications"),
  ...reading("/System/Library", "/System/iOSSupport", "/System/Cryptexes", "/System/Volumes/Preboot/Cryptexes"),
  ...reading("/Library/Apple", "/Library/Filesystems/NetFSPlugins", "/Library/Preferences"),
  { path: "/tmp", access: "write" },
  { path: "/var/tmp", access: "write" },
];

function reading(...paths: readonly string[]): SpelledEntry[] {
  return paths.map((path) => ({ path, access: "read" }));
}
