import { BodyDeltas } from "./body_deltas.ts";
import { DEADLINE_MS } from "./deadline.ts";
import { Mismatch, show } from "./mismatch.ts";
import { ProcessEvents } from "./process_events.ts";

/** How a connection ended. A close frame comes before the end of the stream, so it is part of it. */
export interface End {
  readonly how: "eof" | "reset" | "broken";
  readonly closeCode: number | null;
  readonly why?: string;
}

export interface Reply {
  readonly id: unknown;
  /** As it came; `message` is the same with numbers rounded. */
  readonly text: string;
  readonly message: Readonly<Record<string, unknown>>;
  /** The streamed bodies of which a part had come by then. */
  readonly begunBodies: readonly string[];
}

export interface Ping {
  /** Milliseconds since the connection stood. */
  readonly atMs: number;
  readonly payload: Uint8Array;
}

/** What arrived on one connection and has not been looked at yet. Unbounded: a recording is short. */
export class Inbox {
  /** Replies and errors in the order of arrival; whoever expects one takes it out. */
  readonly replies: Reply[] = [];
  /** Notifications by process. */
  readonly processes = new Map<string, ProcessEvents>();
  /** Streamed bodies of HTTP answers by request. */
  readonly bodies = new Map<string, BodyDeltas>();
  /** Notifications that a missing file has come; whoever expects one takes it out. */
  readonly missingChanged: Readonly<Record<string, unknown>>[] = [];
  readonly pings: Ping[] = [];
  readonly pongs: string[] = [];
  /** Everything the server sent, in bytes. */
  bytes = 0;
  end: End | null = null;
  #changed = Promise.withResolvers<void>();

  /** Takes one message of the server. What is neither a reply nor a known notification ends the conversation. */
  message(text: string): void {
    try {
      this.#sort(JSON.parse(text), text);
    } catch (error) {
      this.finish({ how: "broken", closeCode: null, why: `${String(error)} in ${show(text)}` });
    }
    this.wake();
  }

  #sort(message: Record<string, unknown>, text: string): void {
    if ("id" in message) {
      this.replies.push({ id: message["id"], text, message, begunBodies: [...this.bodies.keys()] });
      return;
    }
    const { processId, requestId } = (message["params"] ?? {}) as { processId?: unknown; requestId?: unknown };
    if (message["method"] === "fs/missingChanged") this.missingChanged.push(message);
    else if (message["method"] === "http/request/bodyDelta" && typeof requestId === "string") {
      this.body(requestId).accept(message);
    } else if (typeof processId === "string") this.process(processId).accept(message);
    else throw new Mismatch("neither a reply nor a notification that is known");
  }

  /** The notifications of one process so far. */
  process(id: string): ProcessEvents {
    let events = this.processes.get(id);
    if (events === undefined) this.processes.set(id, events = new ProcessEvents());
    return events;
  }

  /** The streamed body of one HTTP answer so far. */
  body(requestId: string): BodyDeltas {
    let deltas = this.bodies.get(requestId);
    if (deltas === undefined) this.bodies.set(requestId, deltas = new BodyDeltas());
    return deltas;
  }

  /** Called once nothing more can come; later calls change nothing. */
  finish(end: End): void {
    this.end ??= end;
    this.wake();
  }

  /** Lets the waiting look again. */
  wake(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve();
  }

  /**
   * Waits until `look` finds something.
   *
   * @throws {Mismatch} If the connection ends before, or after `ms` milliseconds.
   */
  async until<T>(look: () => T | undefined, what: () => string, ms = DEADLINE_MS): Promise<T> {
    const { promise: late, resolve } = Promise.withResolvers<"late">();
    const timer = setTimeout(() => resolve("late"), ms);
    try {
      while (true) {
        const changed = this.#changed.promise;
        const found = look();
        if (found !== undefined) return found;
        if (this.end !== null) throw new Mismatch(`the connection ended (${show(this.end)}) before ${what()}`);
        if (await Promise.race([changed, late]) === "late") {
          throw new Mismatch(`no ${what()} within ${ms} ms; came instead: ${show(this.replies)}`);
        }
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits for the end of the connection. @throws {Mismatch} If it has not ended after `ms` milliseconds. */
  ended(ms = DEADLINE_MS): Promise<End> {
    return this.until(() => this.end ?? undefined, () => "end of the connection", ms);
  }
}
