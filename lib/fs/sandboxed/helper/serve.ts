/** The life of a helper: one request after the other, each in a view of its own. */

import { ExecError } from "../../../errors.ts";
import { stayOnThisThread } from "../../../linux/background.ts";
import * as calls from "../../../linux/sandbox_calls.ts";
import { toBytes } from "../../../sandbox/byte_path.ts";
import { LaunchFailure, must } from "../../../sandbox/launcher/failure.ts";
import type { Confinement } from "../../../sandbox/launcher/launch_plan.ts";
import { OsError } from "../../os_error.ts";
import { Slice } from "../../slice.ts";
import { type Deed, type DeedName, HELPER_DESCRIPTOR, type Reply, type Request, type Results } from "../messages.ts";
import { HelperConnection, ServerGone } from "./connection.ts";
import { perform } from "./deeds.ts";
import { LandlockView } from "./landlock_view.ts";
import { MountViews } from "./mount_views.ts";
import { sendResult } from "./results.ts";
import type { View } from "./view.ts";

/** As the launcher ends when it cannot do what it is told. */
const NOT_CONFINED = 126;
const SIGKILL = 9;
const ERROR_OUTPUT = 2;

/** How long longer work goes on, in milliseconds, before it looks whether it is still wanted. */
const SLICE_MS = 5;

/** @param args What the helper was started with: the number of its connection. Never returns. */
export async function serve(args: readonly string[]): Promise<never> {
  try {
    const connection = connect(args);
    must("prctl PR_SET_PDEATHSIG", calls.setParentDeathSignal(SIGKILL));
    await new Helper(connection).run();
  } catch (error) {
    if (error instanceof ServerGone) calls.endProcess(0);
    complain(error);
  }
  return calls.endProcess(NOT_CONFINED);
}

function connect([text, ...more]: readonly string[]): HelperConnection {
  return new HelperConnection(text === String(HELPER_DESCRIPTOR) && more.length === 0 ? HELPER_DESCRIPTOR : -1);
}

function complain(error: unknown): void {
  const text = error instanceof LaunchFailure ? textOf(error) : error instanceof Error ? error.stack : String(error);
  calls.write(ERROR_OUTPUT, calls.rawBytes(`${text}\n`));
}

/** What the client may be told. */
function textOf(error: unknown): string {
  return error instanceof LaunchFailure ? `sandbox: ${error.message}` : "sandbox: the file helper has failed";
}

class Helper {
  readonly #connection: HelperConnection;
  #view: View | undefined;

  constructor(connection: HelperConnection) {
    this.#connection = connection;
  }

  /** @throws {ServerGone} In the end, or what made the view one that nobody can rely on. */
  async run(): Promise<never> {
    for (;;) {
      const request = this.#connection.receive();
      if (request === "cancel") continue; // of what was answered meanwhile
      try {
        await this.#answer(request);
      } catch (error) {
        if (!(error instanceof ServerGone)) this.#connection.send({ broken: textOf(error) });
        throw error;
      }
    }
  }

  async #answer({ enter, deed, leave }: Exclude<Request, "cancel">): Promise<void> {
    if (enter !== null) await this.#enter(enter);
    const outcome = deed === null ? { result: null } : await this.#try(deed);
    if (leave) this.#view!.leave();
    if (deed !== null && outcome.result !== undefined) return sendResult(this.#connection, deed.do, outcome.result);
    this.#connection.send(outcome.result === undefined ? outcome.reply : { done: null });
  }

  async #enter(confinement: Confinement): Promise<void> {
    if (this.#view === undefined) {
      this.#view = confinement.kind === "mounts" ? await MountViews.prepare() : new LandlockView();
      stayOnThisThread();
    }
    this.#view.enter(confinement);
  }

  /** @throws What is no failure of the deed. */
  async #try(deed: Deed): Promise<Outcome> {
    const aborting = new AbortController();
    const slice = new Slice(() => SLICE_MS, () => {
      this.#look(aborting);
      return Promise.resolve();
    });
    try {
      this.#checkLook(deed);
      return { result: await perform(deed, slice, aborting.signal) };
    } catch (error) {
      if (aborting.signal.aborted && error === aborting.signal.reason) {
        return { result: undefined, reply: { cancelled: true } };
      }
      if (!(error instanceof ExecError)) throw error;
      const { kind, message } = error;
      const errno = error instanceof OsError ? error.errno : null;
      return { result: undefined, reply: { failed: { kind, message, errno } } };
    }
  }

  /** @throws {ServerGone} */
  #look(aborting: AbortController): void {
    if (!this.#connection.hasMore) return;
    if (this.#connection.receive() !== "cancel") throw new LaunchFailure("the server has begun a second request");
    aborting.abort();
  }

  #checkLook(deed: Deed): void {
    if (deed.do === "getMetadata") this.#view!.checkLook(toBytes(deed.path), deed.followSymlinks);
    if (deed.do === "canonicalize") this.#view!.checkLook(toBytes(deed.path), true);
  }
}

type Outcome =
  | { readonly result: Results[DeedName] }
  | { readonly result: undefined; readonly reply: Reply };
