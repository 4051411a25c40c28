/** Sandbox documents as they are sent. */

type Members = Readonly<Record<string, unknown>>;

/** A document with those entries, and whatever else it is to say. */
export function restricted(entries: readonly unknown[], more: Members = {}): Members {
  return {
    permissions: { type: "managed", file_system: { type: "restricted", entries }, network: "restricted" },
    windowsSandboxLevel: "disabled",
    ...more,
  };
}

export function pathEntry(uri: string, access: string): Members {
  return { path: { type: "path", path: uri }, access };
}

export function globEntry(pattern: string, access = "deny"): Members {
  return { path: { type: "glob_pattern", pattern }, access };
}

export function specialEntry(kind: string, access: string, more: Members = {}): Members {
  return { path: { type: "special", value: { kind, ...more } }, access };
}
