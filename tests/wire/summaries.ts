/** Recorded summaries of messages too many to record: what they say, checked on what was received. */
import { Mismatch, show } from "./mismatch.ts";
import type { ProcessEvents } from "./process_events.ts";

interface ReadChunk {
  readonly seq: number;
  readonly chunk: string;
}

interface ReadResult {
  readonly chunks: readonly ReadChunk[];
  readonly nextSeq: number;
}

/** "n chunks of output, so many bytes in all". @throws {Mismatch} */
export function checkOutput(summary: Readonly<Record<string, unknown>>, received: ProcessEvents, limit: number): void {
  const output = received.sorted().filter((event) => event.kind === "output");
  expect(received.totalBytes === summary["totalBytes"], `${received.totalBytes} bytes of output`, summary);
  expect(output[0]?.seq === summary["firstSeq"], `first number ${output[0]?.seq}`, summary);
  expect(received.largestChunkBytes <= limit, `a chunk of ${received.largestChunkBytes} bytes`, summary);
}

/** "What is retained: the newest chunks up to the limit, without gaps up to the end". @throws {Mismatch} */
export function checkRetained(
  summary: Readonly<Record<string, unknown>>,
  reply: unknown,
  received: ProcessEvents,
  limit: number,
): ReadResult {
  const result = resultOf(reply);
  const { chunks, nextSeq } = result;
  const bytes = chunks.reduce((sum, { chunk }) => sum + Uint8Array.fromBase64(chunk).length, 0);
  const retained = /^<= (\d+) and > (\d+) - \d+$/.exec(String(summary["retainedBytes"]));
  if (retained === null) throw new Error(`unknown summary ${show(summary)}`);
  expect(bytes <= Number(retained[1]) && bytes > Number(retained[2]) - limit, `${bytes} bytes retained`, summary);
  const newest = received.sorted().filter((event) => event.kind === "output").slice(-chunks.length);
  const contiguous = chunks.length > 0 && chunks.every(({ seq }, i) => seq === newest[i]?.seq);
  expect(contiguous, "retained chunks that are not the newest", summary);
  expect(nextSeq === received.sorted().at(-1)!.seq + 1, `nextSeq ${nextSeq}`, summary);
  return result;
}

/** "One chunk, the oldest that is retained". @throws {Mismatch} */
export function checkOldest(summary: Readonly<Record<string, unknown>>, reply: unknown, retained: ReadResult): void {
  const { chunks, nextSeq } = resultOf(reply);
  expect(chunks.length === summary["chunks"], `${chunks.length} chunks`, summary);
  expect(chunks[0]!.seq === retained.chunks[0]!.seq, `first number ${chunks[0]!.seq}`, summary);
  expect(nextSeq === chunks[0]!.seq + 1, `nextSeq ${nextSeq}`, summary);
}

function resultOf(reply: unknown): ReadResult {
  const { result } = reply as { result?: ReadResult };
  if (!Array.isArray(result?.chunks)) throw new Mismatch(`expected the result of a read, got ${show(reply)}`);
  return result;
}

function expect(holds: boolean, found: string, summary: unknown): void {
  if (!holds) throw new Mismatch(`expected ${show(summary)}, got ${found}`);
}
