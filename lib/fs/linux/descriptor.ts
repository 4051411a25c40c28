import { closeFile } from "./close_file.ts";

/**
 * The descriptor of a file. It is closed when its scope has been left and no other thread works with it any more: until
 * then its number must not become somebody else's.
 */
export class Descriptor implements Disposable {
  readonly #fd: number;
  /** How large the file is, as far as is known. */
  #size: number;
  #uses = 0;
  #left = false;

  constructor(fd: number, size: number) {
    this.#fd = fd;
    this.#size = size;
  }

  /** For a call in this step. */
  get fd(): number {
    if (this.#left) throw new Error("the file has been closed");
    return this.#fd;
  }

  /** The file holds so many bytes by now. */
  grown(size: number): void {
    if (size > this.#size) this.#size = size;
  }

  /** Does something that uses other threads, and keeps the descriptor until it has settled. */
  async during<T>(work: (fd: number) => Promise<T>): Promise<T> {
    const { fd } = this;
    this.#uses++;
    try {
      return await work(fd);
    } finally {
      this.#uses--;
      if (this.#left) this.#closeIfUnused();
    }
  }

  [Symbol.dispose](): void {
    if (this.#left) return;
    this.#left = true;
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (this.#uses === 0) void closeFile(this.#fd, this.#size);
  }
}
