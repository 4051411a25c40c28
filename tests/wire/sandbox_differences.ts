/** What our sandboxes do otherwise than the reference's, in the recordings that show it; see `differences.ts`. */
import type { Line } from "./lines.ts";

/** The differences that are about sandboxes, each with its reason. */
export const SANDBOX_DIFFERENCES = {
  managedNetworkNotBuilt: "A start that asks for networkProxy, for managedNetwork or, with a sandbox, for " +
    "enforceManagedNetwork is refused rather than run unfiltered.",
  sandboxWords: "What is printed in the place of a program that cannot be run in its sandbox is one sentence; the " +
    "reference adds where in its own source text that was found.",
  nestedNamespaces: "In a sandbox no user namespace can be made at all; the reference's can, but it maps no user.",
  unixDatagrams: "Without network a unix socket cannot be one for datagrams: those can be sent without a connection, " +
    "which the reference's filter does not see.",
  sandboxFailureWords: "Why a sandbox for files cannot be made is told in one sentence; the reference tells how its " +
    "helper ended and what that printed.",
  sandboxUnavailable:
    "A program that nothing can confine is not started; the reference starts what then says so and exits " +
    "with 1. For files the reason names each back end; bubblewrap alone is asked for, since Landlock could hold one of " +
    "the policies.",
  nothingFalselyDone:
    "What would be made in a part of the view that is nowhere on the machine fails as on a read-only " +
    "file system; the reference reports success, and nothing is there.",
} as const;

export type SandboxDifference = keyof typeof SANDBOX_DIFFERENCES;

/** How the lines of a recording change with a difference. */
interface Change {
  readonly scenario: string;
  readonly difference: SandboxDifference;
  readonly change: (lines: readonly Line[]) => readonly Line[];
}

const CHANGES: readonly Change[] = [
  {
    scenario: "fs-process-sandbox-start-errors",
    difference: "managedNetworkNotBuilt",
    change: (lines) =>
      lines.filter((line) => notificationOf(line, "p6") === undefined).map((line) =>
        isReplyTo(7, line)
          ? refusal(7, -32603, "this server has no managed network and runs no program that needs one")
          : line
      ),
  },
  {
    scenario: "fs-process-sandbox-start-errors",
    difference: "sandboxWords",
    change: (lines) =>
      withOutput(
        lines,
        "p1",
        "stderr",
        () => "sandbox: Failed to execvp /nonexistent/bin: No such file or directory (os error 2)\n",
      ),
  },
  {
    scenario: "fs-process-sandbox-isolation",
    difference: "nestedNamespaces",
    change: (lines) =>
      lines.map((line) => replaced(line, "unshare -Ur true; echo", "unshare -Ur true 2>/dev/null; echo"))
        .filter((line) => notificationOf(line, "p4")?.["stream"] !== "stderr"),
  },
  {
    scenario: "fs-process-sandbox-network",
    difference: "unixDatagrams",
    change: (lines) =>
      ["p1", "p3", "p4"].reduce<readonly Line[]>(
        (changed, id) => withOutput(changed, id, "stdout", (text) => text.replace("unix ok", "unix 1")),
        lines,
      ),
  },
  {
    scenario: "fs-sandbox-glob-deny",
    difference: "sandboxFailureWords",
    change: (lines) => lines.map((line) => isReplyTo(15, line) ? withReason(line) : line),
  },
  {
    scenario: "fs-sandbox-protected-metadata",
    difference: "sandboxFailureWords",
    change: (lines) => lines.map((line) => isReplyTo(14, line) ? withReason(line) : line),
  },
  {
    scenario: "fs-sandbox-legacy-landlock",
    difference: "sandboxFailureWords",
    change: (lines) =>
      lines.map((line) =>
        isReplyTo(3, line) ? notConfined(3, "useLegacyLandlock cannot be held where files are restricted") : line
      ),
  },
  {
    scenario: "fs-sandbox-unavailable",
    difference: "sandboxUnavailable",
    change: (lines) =>
      lines.filter((line) => notificationOf(line, "p1") === undefined).map((line) =>
        isReplyTo(3, line)
          ? notConfined(3, "<reason>")
          : isReplyTo(4, line)
          ? notConfined(4, "<reason>")
          : isReplyTo(5, line)
          ? refusal(5, -32603, "sandbox unavailable: <reason>")
          : line
      ),
  },
  {
    scenario: "fs-sandbox-restricted-read",
    difference: "nothingFalselyDone",
    change: (lines) =>
      lines.map((line) => isReplyTo(12, line) ? readOnly(12) : isReplyTo(13, line) ? readOnly(13) : line),
  },
];

/** The recording as a server plays it whose sandboxes differ as `allows` says. */
export function adaptSandboxes(
  scenario: string,
  lines: readonly Line[],
  allows: (difference: SandboxDifference) => boolean,
): readonly Line[] {
  return CHANGES
    .filter((change) => change.scenario === scenario && allows(change.difference))
    .reduce((changed, { change }) => change(changed), lines);
}

type Message = Readonly<Record<string, unknown>>;

/** The parameters of a notification about a process. */
function notificationOf(line: Line, processId: string): Message | undefined {
  if (line.dir !== "recv") return undefined;
  const { method, params } = line.msg as { method?: unknown; params?: Message };
  return method !== undefined && params?.["processId"] === processId ? params : undefined;
}

function isReplyTo(id: number, line: Line): boolean {
  return line.dir === "recv" && (line.msg as Message)["id"] === id;
}

function refusal(id: number, code: number, message: string): Line {
  return { dir: "recv", msg: { error: { code, data: { kind: "sandboxUnavailable" }, message }, id } };
}

/** A recorded refusal with nothing but the sentence at its end. */
function withReason(line: Line): Line {
  const { id, error } = (line as { msg: { id: number; error: { message: string } } }).msg;
  return notConfined(id, error.message.slice(error.message.indexOf("Fatal error: ") + "Fatal error: ".length));
}

function notConfined(id: number, reason: string): Line {
  const message = `fs sandbox helper failed with status unavailable: ${reason}`;
  return { dir: "recv", msg: { error: { code: -32603, message }, id } };
}

function readOnly(id: number): Line {
  return { dir: "recv", msg: { error: { code: -32603, message: "Read-only file system (os error 30)" }, id } };
}

function withOutput(
  lines: readonly Line[],
  processId: string,
  stream: string,
  change: (text: string) => string,
): Line[] {
  return lines.map((line) => {
    const params = notificationOf(line, processId);
    if (params?.["stream"] !== stream) return line;
    const text = new TextDecoder().decode(Uint8Array.fromBase64(String(params["chunk"])));
    const chunk = new TextEncoder().encode(change(text)).toBase64();
    return { dir: "recv", msg: { ...(line as { msg: Message }).msg, params: { ...params, chunk } } };
  });
}

/** What the client sends, with other words in it. */
function replaced(line: Line, words: string, others: string): Line {
  if (line.dir !== "send" || line.msg === undefined) return line;
  return { ...line, msg: JSON.parse(JSON.stringify(line.msg).replace(words, others)) };
}
