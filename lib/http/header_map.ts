/** One line of a head: the name in lower case, the value as bytes, each in one character. */
export type HeaderLine = readonly [name: string, value: string];

/**
 * Headers in the order that the reference puts them on the wire: a name stands where it stood first, with all its
 * values; the last name takes the place of one that is removed.
 */
export class HeaderMap {
  readonly #entries: { name: string; values: string[] }[] = [];

  static from(lines: Iterable<HeaderLine>): HeaderMap {
    const map = new HeaderMap();
    for (const [name, value] of lines) map.append(name, value);
    return map;
  }

  has(name: string): boolean {
    return this.#entries.some((entry) => entry.name === name);
  }

  /** All values of a name, in their order. */
  all(name: string): readonly string[] {
    return this.#entries.find((entry) => entry.name === name)?.values ?? [];
  }

  /** The first value of a name. */
  first(name: string): string | undefined {
    return this.all(name)[0];
  }

  append(name: string, value: string): void {
    const entry = this.#entries.find((entry) => entry.name === name);
    if (entry === undefined) this.#entries.push({ name, values: [value] });
    else entry.values.push(value);
  }

  /** One value instead of all that the name had, in its place. */
  set(name: string, value: string): void {
    const entry = this.#entries.find((entry) => entry.name === name);
    if (entry === undefined) this.#entries.push({ name, values: [value] });
    else entry.values = [value];
  }

  appendUnlessThere(name: string, value: string): void {
    if (!this.has(name)) this.append(name, value);
  }

  /** Puts something behind the last value of a name that is there. */
  amendLast(name: string, suffix: string): void {
    const values = this.#entries.find((entry) => entry.name === name)?.values;
    if (values !== undefined) values.push(`${values.pop()}${suffix}`);
  }

  remove(name: string): void {
    const place = this.#entries.findIndex((entry) => entry.name === name);
    if (place < 0) return;
    const last = this.#entries.pop()!;
    if (place < this.#entries.length) this.#entries[place] = last;
  }

  *[Symbol.iterator](): Generator<HeaderLine> {
    for (const { name, values } of this.#entries) {
      for (const value of values) yield [name, value];
    }
  }
}
