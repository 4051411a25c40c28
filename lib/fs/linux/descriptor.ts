import { close } from "../../linux/libc.ts";

/**
 * A descriptor that is closed when its scope has been left and no call on another thread uses it any more: until then
 * its number must not become somebody else's.
 */
export class Descriptor implements Disposable {
  readonly fd: number;
  #calls = 0;
  #left = false;

  constructor(fd: number) {
    this.fd = fd;
  }

  /** Whether the scope has been left. */
  get closed(): boolean {
    return this.#left;
  }

  /** Keeps the descriptor until `call` has settled. */
  async during<T>(call: Promise<T>): Promise<T> {
    this.#calls++;
    try {
      return await call;
    } finally {
      this.#calls--;
      if (this.#left && this.#calls === 0) close(this.fd);
    }
  }

  [Symbol.dispose](): void {
    if (this.#left) return;
    this.#left = true;
    if (this.#calls === 0) close(this.fd);
  }
}
