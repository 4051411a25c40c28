/** An attempt to get out of a sandbox, as data. */
import type { Aspect } from "../support/policies.ts";
import type { Place } from "../support/place.ts";

/** Everything that has to be tried at least once. */
export const TOPICS = [
  ...["symbolic links", "hard links", "rename across", "dot dot", "/proc/self/root", "/proc of the server"],
  ...["open descriptors", "ptrace", "signals outside", "remount", "unmount", "new namespaces", "set-id programs"],
  ...[".git by rename", ".git by its parent", "missing .git", "metadata outside", "abstract sockets", "unix sockets"],
  ...["TCP", "UDP", "raw and netlink sockets", "DNS", "io_uring", "x32 and 32-bit calls", "devices", "core dumps"],
  ...[
    "swapped directories",
    "requests",
    "shared memory",
    "file handles",
    "mounts",
    "forged policy",
    "keys",
    "terminals",
  ],
] as const;
export type Topic = typeof TOPICS[number];

/** What an attempt needs to succeed where nothing is confined. */
export type Need = "root" | "otherGroup" | "x86_64" | "x32" | "coreDumps" | "ownProgram" | "keys";

/** What the client does while the program runs, such as starting others in the same sandbox. */
export interface Meanwhile {
  readonly place: Place;
  /** Runs a script of Perl as the attempt's is run and waits for its end. */
  run(script: string): Promise<void>;
  /** Sends a request with the sandbox and waits for its answer, whatever that is. */
  request(method: string, params: Readonly<Record<string, unknown>>): Promise<void>;
}

export interface Attempt {
  /** What is attempted; unique. */
  readonly name: string;
  readonly topic: Topic;
  readonly against: Aspect;
  /** Perl, after `prelude.pl`, run in the workspace. Absent: the attempt is all in `meanwhile`. */
  readonly script?: string;
  readonly needs?: readonly Need[];
  /** Whether there has to be a bystander, and whether it has shared memory. */
  readonly bystander?: "plain" | "sharedMemory";
  /** Puts further things into the place before it is remembered. */
  prepare?(place: Place, facts: Readonly<Record<string, string>>): Promise<void>;
  meanwhile?(context: Meanwhile): Promise<void>;
  /** The program is started by something that leaves this descriptor of the victim open, where nothing is confined. */
  readonly leaks?: number;
}
