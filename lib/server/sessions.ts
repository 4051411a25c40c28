import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import { afterLong } from "../long_timer.ts";
import type { Log } from "../log.ts";
import type { Observer } from "../observer.ts";
import type { ProcessBackend } from "../process/child.ts";
import type { Connection } from "../rpc/connection.ts";
import type { Crowd } from "./crowd.ts";
import { Session } from "./session.ts";

/** How long a session lives without a connection, in milliseconds. Seen on the reference: alive at 78 s, gone at 82 s. */
export const DETACHED_SESSION_LIFETIME_MS = 80_000;

/** The longest that a client may have it live instead, in milliseconds, unless the operator says otherwise: a day. */
export const DEFAULT_MAX_DETACHED_MS = 24 * 60 * 60 * 1000;

export interface SessionsOptions {
  readonly backend: ProcessBackend;
  readonly clock: Clock;
  readonly log: Log;
  readonly observer: Observer;
  readonly crowd: Crowd;
  /** The longest lease, in milliseconds; 0: none is granted. */
  readonly maxDetachedMs: number;
}

/**
 * Ids → sessions. There is no limit on their number: each belongs to a client that was let in, and lives at most
 * {@linkcode DETACHED_SESSION_LIFETIME_MS}, or as long as its lease says, longer than its last connection.
 */
export class Sessions implements Disposable {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, Session>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** A new session, attached to `connection`. */
  create(connection: Connection): Session {
    const session = new Session({ id: crypto.randomUUID(), ...this.#options });
    this.#sessions.set(session.id, session);
    session.attach(connection);
    this.#options.log.info("session created", { session: session.id });
    return session;
  }

  /**
   * Attaches a detached session to a new connection.
   *
   * Whether it has expired is decided here, by the clock: a timer that is late must not keep a session alive, and at
   * the boundary the end wins.
   *
   * @throws {ExecError} `invalidRequest` for an unknown or expired id, `sessionAttached` while another connection
   * holds it.
   */
  resume(id: string, connection: Connection): Session {
    const session = this.#sessions.get(id);
    if (session?.attached) {
      throw new ExecError("sessionAttached", `session ${id} is already attached to another connection`);
    }
    if (session === undefined || this.#expired(session)) {
      if (session !== undefined) this.#end(session);
      throw new ExecError("invalidRequest", `unknown session id ${id}`);
    }
    session.attach(connection);
    this.#options.log.info("session resumed", { session: id });
    return session;
  }

  /** The connection has ended; the session waits for the next one. */
  detach(session: Session): void {
    if (this.#sessions.get(session.id) !== session) return;
    const { clock, log } = this.#options;
    session.detach(clock.now(), afterLong(clock, lifetimeMs(session), () => this.#end(session)));
    log.info("session detached", { session: session.id });
  }

  /**
   * Lets a session live longer without a connection, each time that it has lost one.
   *
   * @param durationMs 0: as long as usual.
   * @returns What was granted.
   */
  lease(session: Session, durationMs: number): number {
    const granted = Math.min(durationMs, this.#options.maxDetachedMs);
    session.leaseMs = granted;
    this.#options.log.info("session leased", { session: session.id, durationMs: granted });
    return granted;
  }

  /** Ends every session and its processes. */
  [Symbol.dispose](): void {
    for (const session of this.#sessions.values()) session[Symbol.dispose]();
    this.#sessions.clear();
  }

  #expired(session: Session): boolean {
    const { detachedAt } = session;
    return detachedAt !== undefined && this.#options.clock.now() - detachedAt >= lifetimeMs(session);
  }

  #end(session: Session): void {
    this.#sessions.delete(session.id);
    session[Symbol.dispose]();
    this.#options.log.info("session ended", { session: session.id });
  }
}

/** How long a session lives without a connection. */
function lifetimeMs({ leaseMs }: Session): number {
  return Math.max(leaseMs, DETACHED_SESSION_LIFETIME_MS);
}
