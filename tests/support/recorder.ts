import type { Connection, ConnectionEnd, Message, Receiver } from "../../lib/rpc/connection.ts";

/** Remembers what a connection delivers, and lets a test await it. */
export class Recorder implements Receiver {
  readonly messages: Message[] = [];
  readonly ends: ConnectionEnd[] = [];
  /** What the next messages are answered with: a promise asks the carrier to wait. */
  onMessage: (message: Message) => void | Promise<void> = () => {};
  #waiters: { done: () => boolean; resolve: () => void }[] = [];

  constructor(connection: Connection) {
    connection.start(this);
  }

  message(message: Message): void | Promise<void> {
    this.messages.push(message);
    this.#look();
    return this.onMessage(message);
  }

  ended(end: ConnectionEnd): void {
    this.ends.push(end);
    this.#look();
  }

  /** The first `count` messages, once they are there. */
  async received(count: number): Promise<Message[]> {
    await this.#until(() => this.messages.length >= count);
    return this.messages.slice(0, count);
  }

  /** The reason of the end, once it has come. */
  async end(): Promise<string> {
    await this.#until(() => this.ends.length > 0);
    return this.ends[0]!.reason;
  }

  #until(done: () => boolean): Promise<void> {
    if (done()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ done, resolve }));
  }

  #look(): void {
    for (const { resolve } of this.#waiters.filter(({ done }) => done())) resolve();
    this.#waiters = this.#waiters.filter(({ done }) => !done());
  }
}
