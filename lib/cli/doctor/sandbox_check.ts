import { ClientError } from "../../client/client_error.ts";
import { FileError } from "../../client/file_error.ts";
import { sandboxDocument } from "../../client/sandbox_document.ts";
import { TIDY_MS } from "../copy/patience.ts";
import { randomKey } from "../copy/partial_file.ts";
import { childUri, programPath } from "../copy/remote_path.ts";
import { type Check, failed, type Finding, note, ok } from "./check.ts";
import type { ServerContext } from "./server_checks.ts";

type SandboxContext = ReturnType<typeof sandboxDocument>;
type Entry = Readonly<Record<"path" | "access", unknown>>;

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
  const reading = policy([READ_ALL]);
  const working = policy([READ_ALL, { path: { type: "path", path: ours }, access: "write" }]);
  const workspaces = await attempt(argv, working, context);
  if (typeof workspaces !== "string") {
    const finding = judge(workspaces, true);
    return finding.status === "ok" ? await lookAtRequests(finding, [ours, outside], working, context) : finding;
  }
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

const READ_ALL: Entry = { path: { type: "special", value: { kind: "root" } }, access: "read" };

/** Files are worked on by something else than programs, so that it can be missing where they are held. */
async function lookAtRequests(
  programs: Finding,
  [ours, outside]: readonly [inside: string, outside: string],
  sandbox: SandboxContext,
  { client, signal }: ServerContext,
): Promise<Finding> {
  const write = (path: string) => refusalOf(client.files.writeTextFile(path, "", { sandbox, signal }));
  const refusal = await write(childUri(ours, "in"));
  if (refusal !== undefined) {
    return note(`${programs.detail}; requests for files that ask for one are refused: ${refusal}`, MISSING);
  }
  return await write(outside) === undefined
    ? failed("a request for a file wrote where its sandbox forbids it", REPORT)
    : programs;
}

/** @returns Why it was not done; undefined: it was. */
async function refusalOf(doing: Promise<void>): Promise<string | undefined> {
  try {
    await doing;
    return undefined;
  } catch (error) {
    if (!(error instanceof FileError) || error.kind === "BrokenPipe") throw error;
    return error.message;
  }
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
  sandbox: SandboxContext,
  { client, signal }: ServerContext,
): Promise<Outcome | string> {
  try {
    await using process = await client.start({ argv, sandbox, signal });
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

function policy(entries: readonly Entry[]): SandboxContext {
  return sandboxDocument({
    permissions: { type: "managed", file_system: { type: "restricted", entries }, network: "restricted" },
    windowsSandboxLevel: "disabled",
  });
}

function text(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  return new Response(stream).text();
}
