import type { ExecProcess, ProcessEvent } from "../../client/process.ts";
import type { Clock } from "../../clock.ts";
import type { Cli } from "../command.ts";
import { say } from "../say.ts";
import { OutputWriter } from "./output_writer.ts";

/**
 * How long output may stay away after the program's end before we stop waiting for the end of its streams, in
 * milliseconds. What the program itself wrote is under way by then: our server sends it before it tells of the end, the
 * reference at most a few messages later.
 */
const SILENCE_MS = 250;
/** All waiting after the program's end; for a child that goes on writing a little now and then. */
const PATIENCE_MS = 2_000;
/** Output after the program's end; for a child that goes on writing much. More than any pipe holds. */
const MAX_BYTES_AFTER_EXIT = 1024 * 1024;

/** `closed`: all streams have ended. `held`: the program has, and something that it started still holds them. */
export type OutputEnd = "closed" | "held";

/**
 * Copies what a program writes to our stdout and stderr, in its order and no faster than those are read.
 *
 * It ends with the program and what the program wrote, not with the last of its children: `exec -- sh -c 'daemon &'`
 * comes back, as with docker and unlike with ssh.
 *
 * @param joinsLate Whether to say so if the beginning is not there any more.
 * @param isLinked Whether there is a connection to the server now; without one silence means nothing.
 * @throws {ReaderGoneError} If nobody reads our output any more.
 * @throws {ClientError} If the rest of the output cannot be had.
 */
export async function copyOutput(
  process: ExecProcess,
  cli: Cli,
  { joinsLate = false, isLinked = () => true }: { readonly joinsLate?: boolean; readonly isLinked?: () => boolean } =
    {},
): Promise<OutputEnd> {
  const events = process[Symbol.asyncIterator]();
  const writer = new OutputWriter();
  let rest: AfterExit | undefined;
  let isFirst = true;
  while (rest === undefined || rest.isPatient) {
    const result = await nextEvent(events, writer, rest);
    if (result === undefined) break;
    if (result.done === true || result.value.type === "closed") {
      await writer.flushed();
      return "closed";
    }
    const event = result.value;
    if (joinsLate && isFirst && event.seq > 1) await say(cli, "what it wrote at first is not kept any more");
    isFirst = false;
    if (event.type === "exited") rest = new AfterExit(cli.clock, isLinked);
    else {
      rest?.count(event.bytes);
      await writer.write(event.stream === "stderr" ? cli.stderr : cli.stdout, event.bytes);
    }
    // From here on the time counts, and not that of our reader.
    if (rest !== undefined) await writer.flushed();
  }
  // The iteration waits for an event that nobody will hear of, nor of its failure.
  events.return?.().catch(() => {});
  return "held";
}

/**
 * The next event, as long as we can write what came before it.
 *
 * @returns Undefined if the program has ended, and nothing came in time.
 * @throws What a write failed with; or why there is no event, after all that came before has been written.
 */
async function nextEvent(
  events: AsyncIterator<ProcessEvent>,
  writer: OutputWriter,
  rest: AfterExit | undefined,
): Promise<IteratorResult<ProcessEvent> | undefined> {
  const next = events.next();
  // Not a race with a promise that lives as long as the writer: it would keep every event that ever won.
  const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<ProcessEvent> | undefined>();
  writer.onFailure = reject;
  (rest === undefined ? next : rest.whatComesOf(next)).then(resolve, reject);
  try {
    return await promise;
  } catch (error) {
    await writer.flushed();
    throw error;
  }
}

/**
 * How much longer to listen once the program has ended. Time that our own reader takes does not count, nor that without a
 * link to the server.
 */
class AfterExit {
  readonly #clock: Clock;
  readonly #isLinked: () => boolean;
  #waitedMs = 0;
  #bytes = 0;

  constructor(clock: Clock, isLinked: () => boolean) {
    this.#clock = clock;
    this.#isLinked = isLinked;
  }

  get isPatient(): boolean {
    return this.#waitedMs < PATIENCE_MS && this.#bytes < MAX_BYTES_AFTER_EXIT;
  }

  count(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
  }

  /** @returns Undefined if nothing came in time. */
  async whatComesOf(
    next: Promise<IteratorResult<ProcessEvent>>,
  ): Promise<IteratorResult<ProcessEvent> | undefined> {
    const { promise: silence, resolve } = Promise.withResolvers<undefined>();
    let began = this.#clock.now();
    let wasLinked = this.#isLinked();
    const listen = () =>
      this.#clock.after(Math.min(SILENCE_MS, PATIENCE_MS - this.#waitedMs), () => {
        if (wasLinked && this.#isLinked()) return resolve(undefined);
        wasLinked = this.#isLinked();
        began = this.#clock.now();
        timer = listen();
      });
    let timer = listen();
    try {
      return await Promise.race([next, silence]);
    } finally {
      timer.cancel();
      this.#waitedMs += this.#clock.now() - began;
      next.catch(() => {}); // heard above, or of no interest any more
    }
  }
}
