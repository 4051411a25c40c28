import { ClientError } from "../../client/client_error.ts";
import type { StartOptions } from "../../client/process.ts";
import { PathUri } from "../../path_uri.ts";
import { TIDY_MS } from "../copy/patience.ts";
import { randomKey } from "../copy/partial_file.ts";
import { childUri, programPath } from "../copy/remote_path.ts";
import { type Check, failed, type Finding, note, ok } from "./check.ts";
import type { ServerContext } from "./server_checks.ts";

type Sandbox = NonNullable<StartOptions["sandbox"]>;
type Entry = Extract<
  Extract<Sandbox["permissions"], { type: "managed" }>["file_system"],
  { type: "restricted" }
>["entries"][number];

const SUFFIX = ".exec-server-doctor";
/** Tries what it may and what it may not do, and says what went through. Arguments: the workspace, and a file outside. */
const SCRIPT = `{ echo > "$1/in"; } 2>&1 && echo inside
{ echo > "$2"; } 2>&1 && echo outside
{ mkdir -p "$1/.git" && echo > "$1/.git/in"; } 2>&1 && echo protected
exit 0`;

/** What programs are held to that ask for it, found out by one that tries. */
export const sandbox: Check<ServerContext> = {
  name: "sandbox",
  async look(context): Promise<Finding> {
    const { client, signal } = context;
    const { platformOs, tempDir } = await client.info({ signal });
    if (platformOs === "windows") {
      return note("there is none for Windows: what wants to be confined is refused", ADVICE);
    }
    const workspace = childUri(tempDir ?? "file:///tmp", `.${randomKey()}${SUFFIX}`);
    await client.files.mkdir(workspace, { signal });
    try {
      return await lookIn(workspace, platformOs ?? undefined, context);
    } finally {
      const tidying = { recursive: true, force: true, signal: AbortSignal.timeout(TIDY_MS) };
      await client.files.remove(workspace, tidying);
    }
  },
};

async function lookIn(workspace: string, os: string | undefined, context: ServerContext): Promise<Finding> {
  const [ours, outside] = [childUri(workspace, "workspace"), childUri(workspace, "outside")];
  const [first, second] = [programPath(ours, os), programPath(outside, os)];
  if (first === undefined || second === undefined) {
    return note("not tried: the directory for temporary files has no name");
  }
  await context.client.files.mkdir(ours, { signal: context.signal });
  const argv = ["/bin/sh", "-c", SCRIPT, "sh", first, second];
  const may = (path: string): Entry => ({ ...entry("write"), path: { type: "path", path: PathUri.parse(path) } });
  const [reading, working] = [[entry("read")], [entry("read"), may(ours)]];
  const workspaces = await attempt(argv, working, context);
  if (typeof workspaces !== "string") return judge(workspaces, true);
  // What can hold this can hold less.
  const reader = await attempt(argv, reading, context);
  if (typeof reader === "string") {
    return note(`programs that ask for a sandbox are refused: ${workspaces}`, ADVICE);
  }
  const finding = judge(reader, false);
  return finding.status === "ok"
    ? note(`${finding.detail}; refused are those that may write into a workspace: ${workspaces}`, MISSING)
    : finding;
}

const MISSING = "`exec-server doctor` on that machine says what its sandboxes lack; where the machine itself is the " +
  "sandbox, start the server with --sandbox external";
const ADVICE = `without a sandbox Codex has to run in its mode danger-full-access; ${MISSING}`;

interface Outcome {
  readonly sandboxType: string;
  readonly went: ReadonlySet<string>;
  /** What it said besides. */
  readonly text: string;
}

/** @returns Why there is no such sandbox, or what a program in it could do. */
async function attempt(
  argv: readonly string[],
  entries: readonly Entry[],
  { client, signal }: ServerContext,
): Promise<Outcome | string> {
  try {
    await using process = await client.start({ argv, sandbox: policy(entries), signal });
    const [stdout, stderr] = await Promise.all([text(process.stdout), text(process.stderr), process.exited]);
    const lines = stdout.split("\n").filter((line) => line !== "");
    const went = new Set(lines.filter((line) => ["inside", "outside", "protected"].includes(line)));
    const rest = [...lines.filter((line) => !went.has(line)), stderr.trim()].filter((line) => line !== "");
    return { sandboxType: process.sandboxType, went, text: rest.join(" / ") };
  } catch (error) {
    if (!(error instanceof ClientError) || error.dataKind !== "sandboxUnavailable") throw error;
    return (error.serverMessage ?? error.message).replace(/^sandbox unavailable: /, "");
  }
}

function judge({ sandboxType, went, text }: Outcome, isWritable: boolean): Finding {
  if (sandboxType === "none") {
    return note(
      "the server holds no program to its sandbox: it was told that the machine around it is the sandbox",
      "if it is not, start the server without --sandbox external",
    );
  }
  if (went.has("outside")) return failed("a program wrote where its sandbox forbids it", REPORT);
  if (went.has("protected")) return failed("a program wrote to .git, which its sandbox protects", REPORT);
  if (went.has("inside") && !isWritable) return failed("a program wrote where its sandbox forbids it", REPORT);
  // The reference starts something that says why it cannot go on.
  if (isWritable && !went.has("inside")) return note(`a program that asks for a sandbox does not run: ${text}`, ADVICE);
  const what = isWritable
    ? "everything but the workspace is read-only, and so is .git in it"
    : "everything is read-only";
  return ok(`programs that ask for a sandbox are held to it (${sandboxType}): ${what}`);
}

const REPORT = "do not rely on the sandboxes of this server, and tell its makers";

function policy(entries: readonly Entry[]): Sandbox {
  return {
    permissions: {
      type: "managed",
      file_system: { type: "restricted", entries: [...entries], glob_scan_max_depth: null },
      network: "restricted",
    },
    sandboxOverride: "noOverride",
    cwd: null,
    policyContext: null,
    workspaceRoots: [],
    userHomeDir: null,
    temporaryDirectories: null,
    windowsSandboxLevel: "disabled",
    windowsSandboxProxySettingsMode: null,
    useLegacyLandlock: false,
  };
}

/** Of everything, unless another path is named. */
function entry(access: "read" | "write"): Entry {
  return { path: { type: "special", value: { kind: "root" } }, access, missing_path_behavior: null };
}

function text(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  return new Response(stream).text();
}
