/**
 * Where our server differs from the recorded one on purpose, each with its reason: the only place that knows. The
 * reference passes without any of them, our program with all of them; a replay asks {@linkcode Rules.allows}.
 */
import type { Line, Transcript } from "./lines.ts";

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
    "capabilities are true only for what is built; prependPathDirs may be empty; the member serverInfo " +
    "names the program and its own version.",
  programName: "Usage lines name this program, not the reference's.",
  responseHeaders: "The platform's HTTP server adds `vary: Accept-Encoding`.",
  stdioViolationEnds:
    "A protocol violation on stdio ends the program at once, with code 0; that the reference lingers " +
    "until its input yields something is an accident.",
  malformedReasons:
    "Why a message could not be decoded is told in the words of the reference's JSON library where the " +
    "defect is common; for the rest only id, code and the beginning of the text are the same.",
  methodsNotBuilt: "fs/*, http/request and the discovery methods are decoded and their handshake checked, and then " +
    "answered with -32601 until they are built.",
  terminalFormatError:
    "A file that is no program is refused on a terminal as on pipes; the reference starts a child there " +
    "that aborts, unless the path is absolute or arg0 is set.",
  sandboxNotBuilt: "A start that asks for a sandbox that restricts anything is refused with -32603 and " +
    "data.kind sandboxUnavailable, one that asks for networkProxy or managedNetwork with -32602, " +
    "rather than run unconfined.",
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
  if (meta.transport === "cli" && rules.allows("programName")) lines = lines.map(renameProgram);
  return { meta, lines };
}

/** The write of `hello\n` that names no id, and the echo of it. */
const WRITE_ACCEPTED: readonly Line[] = [
  { dir: "recv", msg: { id: 3, result: { status: "accepted" } } },
  {
    dir: "recv",
    msg: { method: "process/output", params: { processId: "p", seq: 1, stream: "stdout", chunk: "aGVsbG8K" } },
  },
];

function isReplyTo(id: number, line: Line): boolean {
  return line.dir === "recv" && (line.msg as { id?: unknown } | undefined)?.id === id;
}

function renameProgram(line: Line): Line {
  if (line.dir !== "recv" || line.stderr === undefined) return line;
  return { ...line, stderr: line.stderr.replace("Usage: codex exec-server", "Usage: exec-server") };
}
