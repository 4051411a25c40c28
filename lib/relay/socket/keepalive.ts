import type { Clock, Timer } from "../../clock.ts";
import { PING_INTERVAL_MS, PONG_TIMEOUT_MS } from "../limits.ts";

/** What a keepalive does to its socket. */
export interface KeepaliveActions {
  /** Sends an empty ping. */
  ping(): void;
  /** The other side is not there any more. Called at most once, and then nothing else is. */
  dead(reason: "pong_timeout" | "write_timeout"): void;
}

/**
 * Notices that the other side of a socket has gone without a word: by pings that are not answered, and by writes that
 * make no progress. Knows no socket.
 *
 * A ping is due every `PING_INTERVAL_MS`; while one is unanswered none follows. `PONG_TIMEOUT_MS` after an unanswered
 * ping, or after the last progress of what is to be written, the other side counts as dead.
 */
export class Keepalive {
  readonly #clock: Clock;
  readonly #actions: KeepaliveActions;
  #nextPing: Timer | undefined;
  /** Set while a ping is unanswered. */
  #pongLimit: Timer | undefined;
  /** Set while something is to be written. */
  #writeLimit: Timer | undefined;
  #progressAt = 0;
  #listening = true;
  #ended = false;

  constructor(clock: Clock, actions: KeepaliveActions) {
    [this.#clock, this.#actions] = [clock, actions];
  }

  /** The first ping is due one interval from now. */
  start(): void {
    if (!this.#ended) this.#nextPing = this.#clock.after(PING_INTERVAL_MS, () => this.#tick());
  }

  /** A pong came; it need not be the answer to our ping to show that somebody is there. */
  pong(): void {
    this.#pongLimit?.cancel();
    this.#pongLimit = undefined;
  }

  /** Whether what comes is read. While it is not, no answer can be seen, and none is asked for. */
  listening(on: boolean): void {
    this.#listening = on;
    if (!on) this.pong();
  }

  /** Something waits to be written. */
  writing(): void {
    if (this.#ended || this.#writeLimit !== undefined) return;
    this.#progressAt = this.#clock.now();
    this.#watchWrite(PONG_TIMEOUT_MS);
  }

  /** The system has taken something. @param more Whether there is more to write. */
  written(more: boolean): void {
    this.#progressAt = this.#clock.now();
    if (more) return;
    this.#writeLimit?.cancel();
    this.#writeLimit = undefined;
  }

  end(): void {
    this.#ended = true;
    for (const timer of [this.#nextPing, this.#pongLimit, this.#writeLimit]) timer?.cancel();
  }

  #tick(): void {
    this.start();
    if (this.#pongLimit !== undefined || !this.#listening) return;
    this.#pongLimit = this.#clock.after(PONG_TIMEOUT_MS, () => this.#die("pong_timeout"));
    this.#actions.ping();
  }

  /** One timer for many writes: it looks how old the last progress is when it falls due. */
  #watchWrite(ms: number): void {
    this.#writeLimit = this.#clock.after(ms, () => {
      const left = this.#progressAt + PONG_TIMEOUT_MS - this.#clock.now();
      if (left <= 0) this.#die("write_timeout");
      else this.#watchWrite(left);
    });
  }

  #die(reason: "pong_timeout" | "write_timeout"): void {
    this.end();
    this.#actions.dead(reason);
  }
}
