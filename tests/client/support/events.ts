import type { ProcessEvent } from "../../../lib/client/process.ts";
import type { ReadResult } from "../../../lib/protocol/process.ts";

export type OutputEvent = Extract<ProcessEvent, { type: "output" }>;

export function output(
  seq: number,
  content: string | Uint8Array<ArrayBuffer>,
  stream: OutputEvent["stream"] = "stdout",
): OutputEvent {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return { type: "output", seq, stream, bytes };
}

export function exited(seq: number, code = 0, sandboxDenied = false): ProcessEvent {
  return { type: "exited", seq, code, sandboxDenied };
}

export function closed(seq: number): ProcessEvent {
  return { type: "closed", seq };
}

/** What a server answers to `process/read` after `afterSeq` when `line` is all that has happened and all is retained. */
export function readOf(line: readonly ProcessEvent[], afterSeq = 0, oldestSeq = 1): ReadResult {
  const exit = line.find((event) => event.type === "exited");
  return {
    chunks: line.filter((event) =>
      event.type === "output" && event.seq > afterSeq && event.seq >= oldestSeq
    ) as OutputEvent[],
    nextSeq: line.length + 1,
    exited: exit !== undefined,
    exitCode: exit?.type === "exited" ? exit.code : null,
    closed: line.some((event) => event.type === "closed"),
    failure: null,
    sandboxDenied: exit?.type === "exited" && exit.sandboxDenied,
  };
}
