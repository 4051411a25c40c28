import type { ExecProcess } from "../../client/process.ts";
import { concat, total } from "./concat.ts";

/** What may be read while an earlier piece is on its way; then reading waits. As much as a pipe holds. */
const MAX_WAITING_BYTES = 64 * 1024;

/** Where input comes from: what there is, as soon as there is something; null at the end. */
export type Source = () => Promise<Uint8Array<ArrayBuffer> | null>;

/**
 * Passes input on to a program until its end, in order. What comes while a piece is on its way goes together as the
 * next one, so that a slow link does not make a paste slow.
 *
 * @returns The last byte; undefined: there was none.
 * @throws {ClientError} If the program takes no more.
 */
export async function passInput(source: Source, process: Pick<ExecProcess, "write">): Promise<number | undefined> {
  let last: number | undefined;
  let reading = source();
  let hasEnded = false;
  let waiting: Uint8Array<ArrayBuffer>[] = [];
  /** @returns Whether there may be more. */
  const take = (piece: Uint8Array<ArrayBuffer> | null): void => {
    if (piece === null) {
      hasEnded = true;
      return;
    }
    waiting.push(piece);
    last = piece.at(-1) ?? last;
    reading = source();
  };
  for (;;) {
    if (waiting.length === 0) {
      if (hasEnded) return last;
      take(await reading);
      continue;
    }
    const writing = process.write(concat(waiting)).then(() => "written" as const);
    waiting = [];
    for (let isWritten = false; !isWritten;) {
      const mayRead = !hasEnded && total(waiting) < MAX_WAITING_BYTES;
      const first = await (mayRead ? Promise.race([writing, reading]) : writing);
      if (first === "written") isWritten = true;
      else take(first);
    }
  }
}
