import {
  type Connection,
  type ConnectionEnd,
  HIGH_WATER_BYTES,
  type Receiver,
  SHARED_HIGH_WATER_BYTES,
} from "./connection.ts";

/**
 * Two connections that are each other's far end, for tests and for a client in the server's own process. Messages
 * arrive in a later microtask, in order; a receiver's promise makes the sender congested.
 */
export function memoryPair(): [Connection, Connection] {
  const [near, far] = [new MemoryConnection("near"), new MemoryConnection("far")];
  near.connect(far);
  far.connect(near);
  return [near, far];
}

class MemoryConnection implements Connection {
  readonly label: string;
  sharing = false;
  readonly malformedPrefix: string;
  #far: MemoryConnection | undefined;
  #receiver: Receiver | undefined;
  #inbox: string[] = [];
  #inboxBytes = 0;
  #delivering = false;
  #end: ConnectionEnd | undefined;
  #waiters: (() => void)[] = [];

  constructor(name: string) {
    this.label = `exec-server memory ${name}`;
    this.malformedPrefix = `failed to parse JSON-RPC message from ${this.label}: `;
  }

  connect(far: MemoryConnection): void {
    this.#far = far;
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    if (this.#end !== undefined) receiver.ended(this.#end);
    else void this.#deliver();
  }

  send(message: string): void {
    if (this.#end === undefined) this.#far?.receive(message);
  }

  get congested(): boolean {
    return this.#end === undefined &&
      (this.#far?.waitingBytes ?? 0) > (this.sharing ? SHARED_HIGH_WATER_BYTES : HIGH_WATER_BYTES);
  }

  drained(): Promise<void> {
    if (!this.congested) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  close(_code?: number, reason = "closed by us"): void {
    if (this.#end !== undefined) return;
    this.#inbox = [];
    this.#finish({ reason });
    this.#far?.hangUp();
  }

  /** Bytes (rather: UTF-16 units) that were sent to this end and not yet taken. */
  get waitingBytes(): number {
    return this.#inboxBytes;
  }

  receive(message: string): void {
    if (this.#end !== undefined) return;
    this.#inbox.push(message);
    this.#inboxBytes += message.length;
    void this.#deliver();
  }

  /** The far end closed: what it sent before is delivered first. */
  hangUp(): void {
    this.#far = undefined;
    this.#release();
    void this.#deliver();
  }

  async #deliver(): Promise<void> {
    if (this.#delivering || this.#receiver === undefined) return;
    this.#delivering = true;
    await undefined;
    for (let message; this.#end === undefined && (message = this.#inbox.shift()) !== undefined;) {
      this.#inboxBytes -= message.length;
      await this.#receiver.message(message);
      if (this.#far?.congested === false) this.#far.#release();
    }
    this.#delivering = false;
    if (this.#end === undefined && this.#far === undefined) this.#finish({ reason: "closed by the peer" });
  }

  #release(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  #finish(end: ConnectionEnd): void {
    this.#end = end;
    this.#release();
    this.#receiver?.ended(end);
  }
}
