/**
 * Where our server differs from the recorded one on purpose, each with its reason: the only place that knows. The
 * reference passes without any of them, our program with all of them; a replay asks {@linkcode Rules.allows}.
 */
import type { Line, Transcript } from "./lines.ts";
import { adaptSandboxes, SANDBOX_DIFFERENCES } from "./sandbox_differences.ts";

export const DIFFERENCES = {
  closeFrame: "A close frame precedes the end of a WebSocket connection: the platform's WebSocket always sends one, " +
    "and clients of the reference accept it.",
  pongNeeded:
    "A peer that answers no ping for 30 s is detached, so that a half-open connection cannot block a resume " +
    "for as long as TCP needs to notice.",
  largeFrames: "A single frame may have 64 MiB instead of 16: the platform's limit, which is that of a whole message.",
  unmaskedFrames: "An unmasked frame is read like a masked one instead of ending the connection: the platform's " +
    "WebSocket does not look, and a server has no way to. Masks protect proxies from browsers, and those stay out.",
  largeChunks: "A chunk of output may have 65536 bytes instead of 8192: fewer messages for the same bytes.",
  writeIdOptional: "A process/write without writeId is accepted and not de-duplicated: older clients send none.",
  environmentInfo:
    "capabilities are true only for what is built, and one more announces our own methods; prependPathDirs may be empty; the member serverInfo " +
    "names the program and its own version.",
  programName: "Usage lines name this program, not the reference's.",
  responseHeaders: "The platform's HTTP server adds `vary: Accept-Encoding`.",
  stdioViolationEnds:
    "A protocol violation on stdio ends the program at once, with code 0; that the reference lingers " +
    "until its input yields something is an accident.",
  malformedReasons:
    "Why a message could not be decoded is told in the words of the reference's JSON library where the " +
    "defect is common; for the rest only id, code and the beginning of the text are the same.",
  terminalFormatError:
    "A file that is no program is refused on a terminal as on pipes; the reference starts a child there " +
    "that aborts, unless the path is absolute or arg0 is set.",
  copyOntoItself: "A file that is copied onto itself keeps its content; the reference empties it.",
  copyThroughLinks:
    "The copy of a tree follows no link in its destination that is absolute or leads out of it: somebody may " +
    "just have put it there.",
  fifoWithoutReader:
    "Writing or copying to a FIFO that nobody reads fails with ENXIO at once; the reference waits for a " +
    "reader, and with it the whole connection.",
  readFileLimit:
    "fs/readFile serves up to 383 MiB and refuses what is larger like the reference what exceeds 512 MiB, " +
    "with that limit in the text: the answer has to fit one string.",
  walkLineBreaks: "fs/walk lists names that hold tabs or line breaks; the reference loses those letters and reports " +
    "that there is no such file.",
  watchNeighbours:
    "A watch for missing files does not end because the content of another file changes; the reference's " +
    "does if that file's name or a watched one is not ASCII, or they differ in case only.",
  growingLinkLoop:
    "Links that lead in a circle and make the path longer each time are a loop, as the system says; the " +
    "reference says that the name is too long.",
  removalOfRoot: "A recursive removal of / is refused; the reference would begin it.",
  httpBodyLimit: "A buffered body of http/request may have 383 MiB; the reference takes any size into memory.",
  ...SANDBOX_DIFFERENCES,
} as const;

export type DifferenceName = keyof typeof DIFFERENCES;

/** How a server's behaviour is compared with the recorded one. */
export interface Rules {
  readonly allows: (name: DifferenceName) => boolean;
  /** Notifications of a process must be in order on the wire; the reference mixes them up now and then. */
  readonly inOrder: boolean;
}

/** Exactly what was recorded. */
export const REFERENCE_RULES: Rules = { allows: () => false, inOrder: false };
/** What was recorded but for the differences above, and what we promise beyond it. */
export const OUR_RULES: Rules = { allows: (name) => Object.hasOwn(DIFFERENCES, name), inOrder: true };

/** The most bytes that a chunk of output may have. */
export function largestChunkBytes(rules: Rules): number {
  return rules.allows("largeChunks") ? 65_536 : 8_192;
}

/** The recording as a server under these rules has to play it. */
export function adapt(transcript: Transcript, rules: Rules): Transcript {
  const { meta } = transcript;
  let lines = transcript.lines;
  if (meta.scenario === "write-id-required" && rules.allows("writeIdOptional")) {
    lines = lines.flatMap((line) => isReplyTo(3, line) ? WRITE_ACCEPTED : [line]);
  }
  if (meta.scenario === "stdio-unknown-notification" && rules.allows("stdioViolationEnds")) {
    lines = lines.filter((line) => line.dir !== "event" || line.event === "server exited");
  }
  if (meta.scenario === "fs-copy-file-onto-itself" && rules.allows("copyOntoItself")) lines = lines.map(keepContent);
  if (meta.scenario === "fs-write-file-special" && rules.allows("fifoWithoutReader")) {
    lines = lines.filter((line) => !isWaitForReader(line)).map((line) => isReplyTo(4, line) ? NO_READER : line);
  }
  lines = adaptSandboxes(meta.scenario, lines, rules.allows);
  if (meta.transport === "cli" && rules.allows("programName")) lines = lines.map(renameProgram);
  // Only one of our ways is what was recorded.
  const args = meta.launch?.namespacesUsedUp && rules.allows("sandboxUnavailable")
    ? [...meta.args!, "--sandbox", "bubblewrap"]
    : meta.args;
  return { meta: args === undefined ? meta : { ...meta, args }, lines };
}

/** The write of `hello\n` that names no id, and the echo of it. */
const WRITE_ACCEPTED: readonly Line[] = [
  { dir: "recv", msg: { id: 3, result: { status: "accepted" } } },
  {
    dir: "recv",
    msg: { method: "process/output", params: { processId: "p", seq: 1, stream: "stdout", chunk: "aGVsbG8K" } },
  },
];

/** What answers the write to the FIFO. */
const NO_READER: Line = {
  dir: "recv",
  msg: { error: { code: -32603, message: "No such device or address (os error 6)" }, id: 4 },
};

function isWaitForReader(line: Line): boolean {
  return line.dir === "check" && line.msg.op === "noReplyWithin" || line.dir === "setup" && line.msg.op === "readFifo";
}

/** All files of that recording hold `hello`, and the reference leaves none of it. */
function keepContent(line: Line): Line {
  if (line.dir !== "check" || line.msg.op !== "lstat" || line.msg.kind !== "file") return line;
  return { dir: "check", msg: { ...line.msg, size: "hello".length } };
}

function isReplyTo(id: number, line: Line): boolean {
  return line.dir === "recv" && (line.msg as { id?: unknown } | undefined)?.id === id;
}

function renameProgram(line: Line): Line {
  if (line.dir !== "recv" || line.stderr === undefined) return line;
  return { ...line, stderr: line.stderr.replace("Usage: codex exec-server", "Usage: exec-server") };
}
