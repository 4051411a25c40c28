import type { Clock, Timer } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Observer } from "../observer.ts";
import type { ProcessBackend, StreamName } from "../process/child.ts";
import { type ProcessEvents, ProcessTable } from "../process/process_table.ts";
import { encodeClosed, encodeExited, encodeOutput } from "../protocol/process.ts";
import type { Connection } from "../rpc/connection.ts";
import type { Crowd } from "./crowd.ts";

export interface SessionOptions {
  readonly id: string;
  readonly backend: ProcessBackend;
  readonly clock: Clock;
  readonly log: Log;
  readonly observer: Observer;
  readonly crowd: Crowd;
}

/**
 * What outlives a connection: the processes of one client and the place where their events go. While no connection is
 * attached the events are dropped; what they told stays readable through `process/read`.
 */
export class Session implements Disposable {
  readonly id: string;
  readonly processes: ProcessTable;
  #connection: Connection | undefined;
  #detachedAt: number | undefined;
  #expiry: Timer | undefined;
  /** The full connection that programs wait for. */
  #waitingFor: Connection | undefined;
  #leaseMs = 0;
  readonly #observer: Observer;
  readonly #crowd: Crowd;

  constructor(options: SessionOptions) {
    this.id = options.id;
    this.#observer = options.observer;
    this.#crowd = options.crowd;
    this.processes = new ProcessTable({
      backend: options.backend,
      clock: options.clock,
      log: options.log,
      events: this.#events(),
    });
  }

  get attached(): boolean {
    return this.#connection !== undefined;
  }

  /** When the last connection ended, by the session's clock; undefined while one is attached. */
  get detachedAt(): number | undefined {
    return this.#detachedAt;
  }

  /** How long the session may live without a connection if that is longer than usual, in milliseconds; 0: no longer. */
  get leaseMs(): number {
    return this.#leaseMs;
  }

  /** What closed processes have said is kept as long. */
  set leaseMs(ms: number) {
    this.#leaseMs = ms;
    this.processes.keepClosedFor(ms);
  }

  /** From here on events go to this connection. The caller has made sure that no other is attached. */
  attach(connection: Connection): void {
    this.#connection = connection;
    this.#detachedAt = undefined;
    this.#expiry?.cancel();
    this.#expiry = undefined;
  }

  /** Events are dropped from here on, and programs that were held or waited for a slow reader go on. */
  detach(now: number, expiry: Timer): void {
    this.#connection = undefined;
    this.#detachedAt = now;
    this.#expiry = expiry;
    this.processes.releaseHolds();
    this.processes.resumeOutput();
  }

  /** Ends every process of the session. */
  [Symbol.dispose](): void {
    this.#connection = undefined;
    this.#expiry?.cancel();
    this.#expiry = undefined;
    this.processes[Symbol.dispose]();
  }

  #events(): ProcessEvents {
    return {
      output: (processId, seq, stream, bytes) => this.#output(processId, seq, stream, bytes),
      exited: (processId, seq, exitCode, sandboxDenied) => {
        this.#observer.processExited?.({ sessionId: this.id, processId, exitCode });
        this.#connection?.send(encodeExited(JSON.stringify(processId), seq, exitCode, sandboxDenied));
      },
      closed: (processId, seq) => {
        this.#observer.processClosed?.({ sessionId: this.id, processId });
        this.#connection?.send(encodeClosed(JSON.stringify(processId), seq));
      },
    };
  }

  #output(processId: string, seq: number, stream: StreamName, bytes: Uint8Array<ArrayBuffer>): boolean {
    const connection = this.#connection;
    if (connection === undefined) return true;
    connection.send(encodeOutput(JSON.stringify(processId), seq, stream, bytes));
    connection.sharing = this.#crowd.isShared(connection);
    if (!connection.congested) return true;
    this.#resumeWhenDrained(connection);
    return false;
  }

  /** One wait for all processes of the session: they share the connection that is full. */
  #resumeWhenDrained(connection: Connection): void {
    if (this.#waitingFor === connection) return;
    this.#waitingFor = connection;
    void connection.drained().then(() => {
      if (this.#waitingFor !== connection) return;
      this.#waitingFor = undefined;
      this.processes.resumeOutput();
    });
  }
}
