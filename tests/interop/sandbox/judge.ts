/** Which answers in a sandbox are as good as the reference's. */
import { isObject } from "../../wire/match.ts";
import type { Policy } from "./random_policy.ts";

/** `same`: exactly; otherwise what is different and may be. After `over` the trees cannot be compared. */
export type Judgement = { readonly kind: "same" } | { readonly kind: "allowed" | "over"; readonly why: string } | {
  readonly kind: "different";
};

const SAME: Judgement = { kind: "same" };
const DIFFERENT: Judgement = { kind: "different" };

/** What the system says; which of it depends on how a view is made, and the reference's own client takes each for a denial. */
const SYSTEM_ERROR = /^-32(?:603|600|004) (.*) \(os error \d+\)$/;
const REFUSAL = /^-32603 fs sandbox helper failed with status /;

/**
 * What the reference says where its sandbox cannot be set up for reasons of its own: a writable root that is a file, a view
 * without its own program, mount points that cannot be made, alternatives at the beginning of a pattern.
 */
const DEFECT = /bwrap: |panicked at|error building bubblewrap command(?!.*cannot enforce)/;

/** Methods whose success may have changed nothing. */
const WRITING = new Set(["fs/writeFile", "fs/createDirectory", "fs/remove", "fs/copy", "fs/open"]);

/**
 * @param replies What both answered, in one spelling.
 * @param changed Whether the request changed the reference's tree.
 */
export function judgeReply(
  method: string,
  [expected, got]: readonly [string, string],
  policy: Policy,
  changed: boolean,
): Judgement {
  if (expected === got) return SAME;
  const [theirs, own] = [errorOf(expected), errorOf(got)];
  const [denied, denies] = [theirs, own].map((error) => SYSTEM_ERROR.exec(error ?? "")?.[1]);
  if (denied !== undefined && denies !== undefined) return { kind: "allowed", why: `${denied} | ${denies}` };
  const [refused, refuses] = [theirs, own].map((error) => error !== null && REFUSAL.test(error));
  const unable = refused ? inabilityIn(theirs!, policy) : null;
  if (unable !== null) return { kind: "over", why: unable };
  if (refused && refuses) return { kind: "allowed", why: "another reason of a refusal" };
  // Where reading is restricted the reference's root is one that is thrown away: it takes everything and keeps nothing.
  if (theirs === null && denies !== undefined && WRITING.has(method) && !changed) {
    return { kind: "over", why: `the reference wrote into what is thrown away, ours ${denies}` };
  }
  return DIFFERENT;
}

/** `CODE TEXT`, or null of a success. */
function errorOf(reply: string): string | null {
  const { error } = JSON.parse(reply) as { error?: { code: number; message: string } };
  return error === undefined ? null : `${error.code} ${error.message}`;
}

/** Why the reference refuses what can be held; null: it says no such thing. */
function inabilityIn(text: string, policy: Policy): string | null {
  if (DEFECT.test(text)) return "the reference cannot set up its sandbox";
  const link = /crosses writable symlink <side>\/t\/([^"\s]*)/.exec(text)?.[1];
  if (link !== undefined && !mayReplace(link, policy)) return "the reference takes a link for one that may be replaced";
  return null;
}

/** Whether what is at a path may be replaced: what the longest entry says of the directory that it is in. */
function mayReplace(link: string, { entries }: Policy): boolean {
  const above = link.split("/").slice(0, -1).join("/");
  let [length, may] = [-1, true];
  for (const entry of entries) {
    const { path: { type, path }, access } = JSON.parse(entry) as {
      path: { type: string; path: string };
      access: string;
    };
    // The roots are the tree, or what is in it; they take back what `/` grants.
    if (type === "special" && entry.includes("project_roots") && access !== "write") return false;
    if (type !== "path") continue;
    const at = path.replace(/^file:\/\/<tree>\/?/, "");
    // It is meant by its name.
    if (at === link && access === "write") return false;
    const counts = at === "" || above === at || above.startsWith(`${at}/`);
    if (!counts || at.length < length) continue;
    may = access === "write" && (at.length > length || may);
    length = at.length;
  }
  return may;
}

/** How one program was started, what it said and how it ended. */
export interface Ran {
  /** The answer to its start, in one spelling. */
  readonly reply: string;
  /** Absent: it was not started. */
  readonly ended?: {
    readonly exitCode: unknown;
    readonly sandboxDenied: unknown;
    readonly stdout: string;
    readonly stderr: string;
  };
}

export function judgeRun([expected, got]: readonly [Ran, Ran], policy: Policy): Judgement {
  if (JSON.stringify(expected) === JSON.stringify(got)) return SAME;
  // The reference starts its helper and lets that say why there is no sandbox; ours says it instead of starting anything.
  // It also breaks when mount points are gone at the end that a program has moved.
  const failed = expected.ended !== undefined && expected.ended.exitCode !== 0 &&
    (!expected.ended.stdout.startsWith("0 ") || DEFECT.test(expected.ended.stderr));
  const unable = failed ? inabilityIn(expected.ended.stdout + expected.ended.stderr, policy) : null;
  if (unable !== null) return { kind: "over", why: unable };
  if (failed && isUnavailable(got.reply)) return { kind: "allowed", why: "a refusal instead of a start" };
  if (expected.ended === undefined && isUnavailable(got.reply)) {
    return { kind: "allowed", why: "what cannot be enforced is refused before a directory that is not there" };
  }
  if (expected.reply !== got.reply) return DIFFERENT;
  if (expected.ended === undefined || got.ended === undefined) return SAME;
  const [theirs, own] = [expected.ended, got.ended];
  if (theirs.exitCode !== own.exitCode || theirs.sandboxDenied !== own.sandboxDenied) return DIFFERENT;
  if (theirs.stderr !== own.stderr) return DIFFERENT;
  if (theirs.stdout === own.stdout) return SAME;
  return judgeLines(theirs.stdout.split(/\r?\n/), own.stdout.split(/\r?\n/));
}

/** What one could not do the other could not do either; why depends on how the view is made. */
function judgeLines(theirs: readonly string[], own: readonly string[]): Judgement {
  if (theirs.length !== own.length) return DIFFERENT;
  const why = new Set<string>();
  for (const [index, line] of theirs.entries()) {
    if (line === own[index]) continue;
    const [[, denied = ""], [, denies = ""]] = [line.split(" "), own[index]!.split(" ")];
    // Whoever could move it could put another in its place.
    if (denies === "EBUSY") return { kind: "over", why: "a directory above what is protected stays where it is" };
    if (!/^E[A-Z]+$/.test(denied) || !/^E[A-Z]+$/.test(denies)) return DIFFERENT;
    why.add(`${denied} ${denies}`);
  }
  return { kind: "allowed", why: [...why].join(", ") };
}

function isUnavailable(reply: string): boolean {
  const { error } = JSON.parse(reply) as { error?: { data?: unknown } };
  return isObject(error?.data) && error.data["kind"] === "sandboxUnavailable";
}
