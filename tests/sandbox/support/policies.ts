/** The sandboxes that attempts are made in, as the wire has them, and what each is to hold. */
import { type Place, PROTECTED, WRITABLE } from "./place.ts";

/**
 * What an attempt goes against. `files`: what is outside or protected; `processes`: what runs outside; `calls`: what the
 * filter of system calls refuses, wherever it is aimed; `network`: sockets.
 */
export type Aspect = "files" | "processes" | "calls" | "network";

export interface Policy {
  readonly name: string;
  /** What is kept from programs in it. */
  readonly guards: readonly Aspect[];
  /** Files outside the workspace cannot be read. */
  readonly hidesOutside: boolean;
  /** What is denied in the workspace cannot be read. */
  readonly hidesDenied: boolean;
  /** What is sealed, denied or has a protected name in the workspace cannot be written. */
  readonly keepsWorkspace: boolean;
  /** One sandbox for the programs of all these places. */
  sandbox(places: readonly Place[]): Record<string, unknown>;
}

const TAKES_BACK = { hidesDenied: true, keepsWorkspace: true };
const GRANTS_ONLY = { hidesDenied: false, keepsWorkspace: false };

/** What the agent asks for in its default mode, with a directory that is sealed and one that is denied. */
export const WORKSPACE: Policy = {
  name: "workspace",
  guards: ["files", "processes", "calls", "network"],
  hidesOutside: false,
  ...TAKES_BACK,
  sandbox: (places) => managed(places, "root", "restricted"),
};

/** Only the system's programs can be read. */
export const NARROW: Policy = {
  name: "narrow",
  guards: ["files", "processes", "calls", "network"],
  hidesOutside: true,
  ...TAKES_BACK,
  sandbox: (places) => managed(places, "minimal", "restricted"),
};

export const ONLINE: Policy = {
  name: "online",
  guards: ["files", "processes", "calls"],
  hidesOutside: false,
  ...TAKES_BACK,
  sandbox: (places) => managed(places, "root", "enabled"),
};

/** Files are free, the network is not. */
export const OFFLINE: Policy = {
  name: "offline",
  guards: ["calls", "network"],
  hidesOutside: false,
  ...GRANTS_ONLY,
  sandbox: () => ({
    permissions: { type: "managed", file_system: { type: "unrestricted" }, network: "restricted" },
    windowsSandboxLevel: "disabled",
  }),
};

export const POLICIES: readonly Policy[] = [WORKSPACE, NARROW, ONLINE, OFFLINE];

/** Nothing can be written. */
export const READ_ONLY: Policy = {
  name: "read-only",
  guards: ["files", "processes", "calls", "network"],
  hidesOutside: false,
  hidesDenied: false,
  keepsWorkspace: true,
  sandbox: () => restricted([readable("root")], "restricted"),
};

/** All of the workspace may be written, protected names included, with the network. */
export const OPEN: Policy = {
  name: "open",
  guards: ["files", "processes", "calls"],
  hidesOutside: false,
  ...GRANTS_ONLY,
  sandbox: (places) => restricted([readable("root"), ...opened(places)], "enabled"),
};

/** The same where only the system's programs can be read, without the network. */
export const OPEN_NARROW: Policy = {
  name: "open-narrow",
  guards: ["files", "processes", "calls", "network"],
  hidesOutside: true,
  ...GRANTS_ONLY,
  sandbox: (places) => restricted([readable("minimal"), ...opened(places)], "restricted"),
};

/** Those that only grant, and take nothing back of what they have granted: Landlock holds them. */
export const GRANTING_POLICIES: readonly Policy[] = [READ_ONLY, OPEN, OPEN_NARROW, OFFLINE];

/**
 * Every place that is protected has to be named: where a `.git` file points to as well, and the names below what is named
 * where that is a directory, or becomes one.
 */
function opened(places: readonly Place[]): unknown[] {
  const below = (roots: readonly string[]) => roots.flatMap((root) => PROTECTED.map((name) => `${root}/${name}`));
  const roots = [...WRITABLE, "ws/worktree/real"];
  const names = [...roots, ...below(roots), ...below(below(roots))];
  return places.flatMap(({ directory }) => names.map((name) => at(`${directory}/${name}`, "write")));
}

function managed(
  places: readonly Place[],
  reads: "root" | "minimal",
  network: "restricted" | "enabled",
): Record<string, unknown> {
  const entries = places.flatMap(({ directory }) => [
    ...WRITABLE.map((name) => at(`${directory}/${name}`, "write")),
    at(`${directory}/ws/sealed`, "read"),
    at(`${directory}/ws/denied`, "deny"),
  ]);
  return restricted([readable(reads), ...entries], network);
}

function readable(kind: "root" | "minimal"): unknown {
  return { path: { type: "special", value: { kind } }, access: "read" };
}

function at(path: string, access: "read" | "write" | "deny"): unknown {
  return { path: { type: "path", path: `file://${path}` }, access };
}

function restricted(entries: readonly unknown[], network: "restricted" | "enabled"): Record<string, unknown> {
  return {
    permissions: { type: "managed", file_system: { type: "restricted", entries }, network },
    windowsSandboxLevel: "disabled",
  };
}
