/** Output and reads of the same program on two servers: what may be different by chance is left out. */
import { isObject } from "../wire/match.ts";
import { Mismatch } from "../wire/mismatch.ts";
import type { ProcessEvents } from "../wire/process_events.ts";
import type { Answer } from "./answers.ts";
import { canonical } from "./exact_json.ts";
import type { StartedProcess } from "./process_model.ts";
import type { Side } from "./side.ts";

/** What is different in the notifications of a process, or null. */
export function compareProcess(process: StartedProcess, reference: Side, ours: Side): string | null {
  const [theirs, own] = [reference.process(process.id), ours.process(process.id)];
  const rules = { inOrder: true, fromOne: process.here };
  try {
    if (process.fixture.environment !== true) own.compare(theirs, rules);
    else {
      own.compare(own, rules);
      const [expected, got] = [variables(theirs), variables(own)];
      if (expected !== got) return `the reference gives it ${expected}, ours ${got}`;
    }
    return null;
  } catch (error) {
    if (error instanceof Mismatch) return error.message;
    throw error;
  }
}

/** The lines of an environment in one order. The search path is that of the server, which is its own. */
function variables(events: ProcessEvents): string {
  const text = ["stdout", "pty"].map((stream) => decode(events.output(stream))).join("");
  const lines = text.split(/\r?\n/).filter((line) => !line.startsWith("PATH="));
  return JSON.stringify([lines.sort(), events.state()]);
}

interface ReadResult {
  readonly chunks: readonly { readonly stream: string; readonly chunk: string }[];
}

/**
 * Compares two reads. Where the same output was cut differently or the exit fell between other chunks, numbers cannot
 * be compared: then only the output and the state are.
 */
export function sameRead(
  theirs: Answer,
  own: Answer,
  process: StartedProcess | undefined,
  [reference, ours]: readonly [Side, Side],
): boolean {
  if (theirs.replies.join() === own.replies.join()) return true;
  if (process === undefined) return false;
  const cut = (side: Side) => side.process(process.id).cut();
  if (process.fixture.environment !== true && process.here && cut(reference) === cut(ours)) return false;
  const [a, b] = [theirs, own].map(({ replies }) => withoutCut(JSON.parse(replies[0]!).result));
  return a !== null && a === b;
}

function withoutCut(result: unknown): string | null {
  if (!isObject(result)) return null;
  const { chunks, nextSeq: _, ...state } = result;
  const output = (chunks as ReadResult["chunks"]).map(({ chunk }) => decode(chunk)).join("");
  return canonical({ ...state, output: output.replace(/^PATH=.*\n/m, "").split("\n").sort() });
}

function decode(base64: string): string {
  return new TextDecoder().decode(Uint8Array.fromBase64(base64));
}
