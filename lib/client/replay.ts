import type { ReadResult } from "../protocol/process.ts";
import { type ClientError, protocolError } from "./client_error.ts";
import type { ProcessEvent } from "./process.ts";

/** Where the events of a process stand when an answer of `process/read` has to be fitted into them. */
export interface KnownEvents {
  /** The number up to which everything was published. */
  readonly lastSeq: number;
  readonly exitPublished: boolean;
  /** Events above `lastSeq` that came before an earlier one, by number. */
  readonly early: ReadonlyMap<number, ProcessEvent>;
}

/**
 * The events that a `process/read` after `known.lastSeq` tells and that are not known yet. Together with the early ones
 * they leave no gap up to the answer's `nextSeq - 1`: what is known already wins over a second copy, and the exit, which
 * an answer reports without its number, takes the one place that nothing else takes. Nothing is changed here, so that
 * an answer which does not fit has no effect at all.
 *
 * @throws {ClientError} `protocol`: the answer contradicts itself or what is known, or events in between are gone.
 */
export function missedEvents(known: KnownEvents, answer: ReadResult): readonly ProcessEvent[] {
  if (answer.failure) throw protocolError(`process failed while recovering: ${answer.failure}`);
  const target = answer.nextSeq - 1;
  if (target <= known.lastSeq) return [];
  refuseConflictingClose(known, answer, target);
  const missed = new Map<number, ProcessEvent>();
  const has = (seq: number): boolean => known.early.has(seq) || missed.has(seq);
  for (const { seq, stream, bytes } of answer.chunks) {
    if (seq > target) {
      throw protocolError(`recovered process output sequence ${seq} exceeds target sequence ${target}`);
    }
    if (seq > known.lastSeq && !has(seq)) missed.set(seq, { type: "output", seq, stream, bytes });
  }
  if (answer.closed && !has(target)) missed.set(target, { type: "closed", seq: target });

  // Counted, not listed: the numbers are the server's, and a wrong one may name billions of events.
  let missing = target - known.lastSeq - missed.size;
  for (const seq of known.early.keys()) if (seq <= target) missing--;
  const exitIsMissing = answer.exited && !known.exitPublished && !hasExit(known.early);
  if (missing !== (exitIsMissing ? 1 : 0)) throw noLongerRetained(target);
  if (exitIsMissing) {
    if (answer.exitCode === null) throw protocolError("recovering exited process did not include its exit code");
    let seq = known.lastSeq + 1;
    while (has(seq)) seq++;
    missed.set(seq, { type: "exited", seq, code: answer.exitCode, sandboxDenied: answer.sandboxDenied });
  }
  return [...missed.values()];
}

/**
 * The number before the first event of a process that an earlier client started: the oldest output that the server
 * still has begins the line. What came before is not known, but for the exit: if it was among that, it takes the place
 * right before the first output.
 *
 * @param answer Of `process/read` from the beginning.
 */
export function lastSeqBefore(answer: ReadResult): number {
  const first = answer.chunks[0]?.seq;
  const target = answer.nextSeq - 1;
  const numbered = answer.chunks.length + (answer.closed ? 1 : 0);
  if (first === undefined) return Math.max(target - numbered - (answer.exited ? 1 : 0), 0);
  const exitIsWithin = target - first + 1 > numbered;
  return Math.max(first - 1 - (answer.exited && !exitIsWithin ? 1 : 0), 0);
}

function refuseConflictingClose(known: KnownEvents, answer: ReadResult, target: number): void {
  if (!answer.closed) return;
  const early = known.early.get(target);
  if ((early !== undefined && early.type !== "closed") || answer.chunks.some(({ seq }) => seq === target)) {
    throw protocolError(`process close sequence ${target} conflicts with recovered output`);
  }
}

function hasExit(early: ReadonlyMap<number, ProcessEvent>): boolean {
  for (const event of early.values()) if (event.type === "exited") return true;
  return false;
}

function noLongerRetained(target: number): ClientError {
  return protocolError(`process events are no longer retained while recovering through sequence ${target}`);
}
