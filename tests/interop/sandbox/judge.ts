/** Which answers in a sandbox are as good as the reference's. */
import { isObject } from "../../wire/match.ts";

/** `same`: exactly; otherwise what is different and may be. A comparison `over` leaves nothing to be compared after it. */
export type Judgement = { readonly kind: "same" } | { readonly kind: "allowed" | "over"; readonly why: string } | {
  readonly kind: "different";
};

const SAME: Judgement = { kind: "same" };
const DIFFERENT: Judgement = { kind: "different" };

/** The three shapes of a denial (the reference's own client takes each for the others), and those of protected mounts. */
const DENIALS: Readonly<Record<string, string>> = {
  "-32603 Read-only file system (os error 30)": "EROFS",
  "-32004 No such file or directory (os error 2)": "ENOENT",
  "-32600 Permission denied (os error 13)": "EACCES",
  "-32600 Operation not permitted (os error 1)": "EPERM",
  "-32603 Resource busy (os error 16)": "EBUSY",
  "-32603 Cross-device link or rename (os error 18)": "EXDEV",
};
const DENIAL_NAMES = new Set(Object.values(DENIALS));
const REFUSAL = /^-32603 fs sandbox helper failed with status /;

/** Methods whose success may have changed nothing. */
const WRITING = new Set(["fs/writeFile", "fs/createDirectory", "fs/remove", "fs/copy", "fs/open"]);

/**
 * @param replies What both answered, in one spelling.
 * @param changed Whether the request changed the reference's tree.
 */
export function judgeReply(method: string, [expected, got]: readonly [string, string], changed: boolean): Judgement {
  if (expected === got) return SAME;
  const [theirs, own] = [errorOf(expected), errorOf(got)];
  const [denied, denies] = [theirs === null ? undefined : DENIALS[theirs], own === null ? undefined : DENIALS[own]];
  if (denied !== undefined && denies !== undefined) return { kind: "allowed", why: `${denied} ${denies}` };
  const [refused, refuses] = [theirs, own].map((error) => error !== null && REFUSAL.test(error));
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

export function judgeRun([expected, got]: readonly [Ran, Ran]): Judgement {
  // The reference starts its helper and lets that say why there is no sandbox; ours says it instead of starting anything.
  const failed = expected.ended !== undefined && expected.ended.stdout === "" && expected.ended.exitCode !== 0;
  if (failed && isUnavailable(got.reply)) return { kind: "allowed", why: "a refusal instead of a start" };
  if (expected.reply !== got.reply) return DIFFERENT;
  if (expected.ended === undefined || got.ended === undefined) return SAME;
  const [theirs, own] = [expected.ended, got.ended];
  if (theirs.exitCode !== own.exitCode || theirs.sandboxDenied !== own.sandboxDenied) return DIFFERENT;
  if (theirs.stderr !== own.stderr) return DIFFERENT;
  if (theirs.stdout === own.stdout) return SAME;
  return judgeLines(theirs.stdout.split(/\r?\n/), own.stdout.split(/\r?\n/));
}

function judgeLines(theirs: readonly string[], own: readonly string[]): Judgement {
  if (theirs.length !== own.length) return DIFFERENT;
  const why = new Set<string>();
  for (const [index, line] of theirs.entries()) {
    if (line === own[index]) continue;
    const [[, denied], [, denies]] = [line.split(" "), own[index]!.split(" ")];
    if (!DENIAL_NAMES.has(denied ?? "") || !DENIAL_NAMES.has(denies ?? "")) return DIFFERENT;
    why.add(`${denied} ${denies}`);
  }
  return { kind: "allowed", why: [...why].join(", ") };
}

function isUnavailable(reply: string): boolean {
  const { error } = JSON.parse(reply) as { error?: { data?: unknown } };
  return isObject(error?.data) && error.data["kind"] === "sandboxUnavailable";
}
