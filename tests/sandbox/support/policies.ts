/** The sandboxes that attempts are made in, as the wire has them, and what each is to hold. */
import { type Place, WRITABLE } from "./place.ts";

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
  /** One sandbox for the programs of all these places. */
  sandbox(places: readonly Place[]): Record<string, unknown>;
}

/** What the agent asks for in its default mode, with a directory that is sealed and one that is denied. */
export const WORKSPACE: Policy = {
  name: "workspace",
  guards: ["files", "processes", "calls", "network"],
  hidesOutside: false,
  sandbox: (places) => managed(places, "root", "restricted"),
};

/** Only the system's programs can be read. */
export const NARROW: Policy = {
  name: "narrow",
  guards: ["files", "processes", "calls", "network"],
  hidesOutside: true,
  sandbox: (places) => managed(places, "minimal", "restricted"),
};

export const ONLINE: Policy = {
  name: "online",
  guards: ["files", "processes", "calls"],
  hidesOutside: false,
  sandbox: (places) => managed(places, "root", "enabled"),
};

/** Files are free, the network is not. */
export const OFFLINE: Policy = {
  name: "offline",
  guards: ["calls", "network"],
  hidesOutside: false,
  sandbox: () => ({
    permissions: { type: "managed", file_system: { type: "unrestricted" }, network: "restricted" },
    windowsSandboxLevel: "disabled",
  }),
};

export const POLICIES: readonly Policy[] = [WORKSPACE, NARROW, ONLINE, OFFLINE];

function managed(
  places: readonly Place[],
  reads: "root" | "minimal",
  network: "restricted" | "enabled",
): Record<string, unknown> {
  const entries = [
    { path: { type: "special", value: { kind: reads } }, access: "read" },
    ...places.flatMap(({ directory }) => {
      const path = (name: string, access: string) => ({
        path: { type: "path", path: `file://${directory}/${name}` },
        access,
      });
      return [...WRITABLE.map((name) => path(name, "write")), path("ws/sealed", "read"), path("ws/denied", "deny")];
    }),
  ];
  return {
    permissions: { type: "managed", file_system: { type: "restricted", entries }, network },
    windowsSandboxLevel: "disabled",
  };
}
