import type { Delivery } from "./faults.ts";

/** How long a frame that waits for later ones waits at most, in milliseconds: there may be none. */
const MOMENT_MS = 30;

interface Held {
  /** Later frames that it still waits for. */
  left: number;
  readonly release: () => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Delivers the frames of one direction of one stream at their times. Leaving the scope drops what still waits. */
export class Line implements Disposable {
  readonly #deliver: (bytes: Uint8Array<ArrayBuffer>) => void;
  readonly #held = new Set<Held>();

  constructor(deliver: (bytes: Uint8Array<ArrayBuffer>) => void) {
    this.#deliver = deliver;
  }

  take(deliveries: readonly Delivery[]): void {
    const earlier = [...this.#held];
    for (const { bytes, afterFrames = 0, afterMs = 0 } of deliveries) {
      if (afterFrames === 0 && afterMs === 0) this.#deliver(bytes);
      else this.#hold(bytes, afterMs > 0 ? Infinity : afterFrames, afterMs > 0 ? afterMs : MOMENT_MS);
    }
    for (const held of earlier) if (--held.left <= 0) held.release();
  }

  [Symbol.dispose](): void {
    for (const { timer } of this.#held) clearTimeout(timer);
    this.#held.clear();
  }

  #hold(bytes: Uint8Array<ArrayBuffer>, left: number, ms: number): void {
    const release = () => {
      clearTimeout(held.timer);
      if (this.#held.delete(held)) this.#deliver(bytes);
    };
    const held: Held = { left, release, timer: setTimeout(release, ms) };
    this.#held.add(held);
  }
}
