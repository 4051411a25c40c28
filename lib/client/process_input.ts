import { abortable } from "../abortable.ts";
import type { CallOptions } from "./calls.ts";
import { ClientError } from "./client_error.ts";
import type { ProcessCore } from "./core.ts";
import { WRITE_BLOCK_BYTES } from "./limits.ts";

/**
 * The input of one process: its bytes arrive once and in the order of the calls, over lost connections too. One block
 * is under way at a time, because what is repeated must not overtake.
 */
export class ProcessInput {
  readonly #core: ProcessCore;
  readonly #processId: string;
  readonly #idPrefix: string;
  #writes = 0;
  /** Resolves when everything before has had its turn. */
  #turn: Promise<void> = Promise.resolve();

  /** @param idPrefix Tells the ids of these writes from those of an earlier client of the same process. */
  constructor(core: ProcessCore, processId: string, idPrefix: string) {
    this.#core = core;
    this.#processId = processId;
    this.#idPrefix = idPrefix;
  }

  /** @throws {ClientError} `process`: it has no input, or is not known any more. */
  write(bytes: Uint8Array<ArrayBuffer>, options: CallOptions = {}): Promise<void> {
    return this.inTurn(async () => {
      let start = 0;
      do {
        await this.#writeBlock(bytes.subarray(start, start += WRITE_BLOCK_BYTES), options);
      } while (start < bytes.length);
    }, options.signal);
  }

  /** Acts when every write before is done. */
  async inTurn<T>(act: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#turn;
    const done = Promise.withResolvers<void>();
    this.#turn = before.then(() => done.promise);
    try {
      await abortable(before, signal);
      return await act();
    } finally {
      done.resolve();
    }
  }

  async #writeBlock(chunk: Uint8Array<ArrayBuffer>, options: CallOptions): Promise<void> {
    const params = { processId: this.#processId, chunk, writeId: `${this.#idPrefix}${++this.#writes}` };
    const { status } = await this.#core.callUntilAnswered("process/write", params, options);
    requireAccepted(this.#processId, status);
  }
}

/** @throws {ClientError} `process`, with words for what a server calls its refusal. */
export function requireAccepted(processId: string, status: "accepted" | keyof typeof REFUSALS): void {
  if (status !== "accepted") throw new ClientError("process", `process ${processId} ${REFUSALS[status]}`);
}

const REFUSALS = {
  unknownProcess: "is not known to the server any more",
  stdinClosed: "has no input",
  starting: "is still being started",
} as const;
