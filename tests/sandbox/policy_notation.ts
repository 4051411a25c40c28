/** Policies as one line: `root:r ws:w glob=/t/ws/*.env:d`. Paths are taken from `/t`. */

import type { Access, PolicyEntry, PolicyPath, RestrictedFileSystem } from "../../lib/sandbox/policy.ts";

const ACCESS: Readonly<Record<string, Access>> = { r: "read", w: "write", d: "deny" };

export function entriesOf(line: string): PolicyEntry[] {
  return line.split(" ").filter((word) => word !== "").map((word) => {
    const colon = word.lastIndexOf(":");
    return { path: pathOf(word.slice(0, colon)), access: ACCESS[word.slice(colon + 1)]! };
  });
}

function pathOf(text: string): PolicyPath {
  if (text === "root" || text === "minimal" || text === "tmpdir" || text === "slashTmp" || text === "unknown") {
    return { kind: text };
  }
  if (text === "proj") return { kind: "projectRoots", subpath: null };
  if (text.startsWith("proj=")) return { kind: "projectRoots", subpath: text.slice(5) };
  if (text.startsWith("glob=")) return { kind: "glob", pattern: text.slice(5) };
  return { kind: "path", path: text.startsWith("/") ? text : `/t/${text}` };
}

export function restricted(line: string, more: Partial<RestrictedFileSystem> = {}): RestrictedFileSystem {
  return {
    entries: entriesOf(line),
    globScanMaxDepth: null,
    cwd: "/t/ws",
    workspaceRoots: ["/t/ws"],
    tmpdir: null,
    ...more,
  };
}
