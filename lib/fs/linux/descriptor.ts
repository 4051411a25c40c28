import { closeFile } from "./close_file.ts";

/**
 * The descriptor of a file. It is closed when its scope has been left and no call on another thread uses it any more:
 * until then its number must not become somebody else's.
 */
export class Descriptor implements Disposable {
  readonly #fd: number;
  /** How large the file is, as far as is known. */
  #size: number;
  #calls = 0;
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

  /** Makes a call on another thread, and keeps the descriptor until it has settled. */
  async during<T>(call: (fd: number) => Promise<T>): Promise<T> {
    const result = call(this.fd);
    this.#calls++;
    try {
      return await result;
    } finally {
      this.#calls--;
      if (this.#left) this.#closeIfUnused();
    }
  }

  [Symbol.dispose](): void {
    if (this.#left) return;
    this.#left = true;
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (this.#calls === 0) closeFile(this.#fd, this.#size);
  }
}
