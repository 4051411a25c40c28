/** Chance that can be repeated: the same seed gives the same numbers. (mulberry32: small, fast, good enough to mix.) */
export class Random {
  #state: number;

  /** @param seed Any integer; its lowest 32 bits count. */
  constructor(readonly seed: number) {
    this.#state = seed | 0;
  }

  /** An integer from 0 up to, and without, `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)]!;
  }
}

/**
 * A seed for one run, told on stderr so that a failure can be repeated: `EXEC_SERVER_TEST_SEED` sets it.
 *
 * @throws {TypeError} If the variable is no integer.
 */
export function announcedSeed(test: string): number {
  const text = Deno.env.get("EXEC_SERVER_TEST_SEED");
  const seed = text === undefined ? crypto.getRandomValues(new Uint32Array(1))[0]! : Number(text);
  if (!Number.isInteger(seed)) throw new TypeError(`EXEC_SERVER_TEST_SEED: an integer is needed, found ${text}`);
  console.error(`${test}: EXEC_SERVER_TEST_SEED=${seed}`);
  return seed;
}
