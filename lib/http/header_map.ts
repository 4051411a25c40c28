/** One line of a head: the name in lower case, the value as bytes, each in one character. */
export type HeaderLine = readonly [name: string, value: string];

/**
 * Headers in the order that the reference puts them on the wire: a name stands where it stood first, with all its
 * values; the last name takes the place of one that is removed.
 */
export class HeaderMap {
  readonly #entries: { readonly name: string; readonly values: string[] }[] = [];
  /** Where each name stands among the entries: a request may have tens of thousands. */
  readonly #places = new Map<string, number>();

  static from(lines: Iterable<HeaderLine>): HeaderMap {
    const map = new HeaderMap();
    for (const [name, value] of lines) map.append(name, value);
    return map;
  }

  has(name: string): boolean {
    return this.#places.has(name);
  }

  /** All values of a name, in their order. */
  all(name: string): readonly string[] {
    return this.#valuesOf(name) ?? [];
  }

  /** The first value of a name. */
  first(name: string): string | undefined {
    return this.#valuesOf(name)?.[0];
  }

  append(name: string, value: string): void {
    const values = this.#valuesOf(name);
    if (values !== undefined) values.push(value);
    else this.#places.set(name, this.#entries.push({ name, values: [value] }) - 1);
  }

  appendUnlessThere(name: string, value: string): void {
    if (!this.has(name)) this.append(name, value);
  }

  /** One value instead of all that the name had, in its place. */
  set(name: string, value: string): void {
    const values = this.#valuesOf(name);
    if (values === undefined) this.append(name, value);
    else values.splice(0, values.length, value);
  }

  /** Puts something behind the last value of a name that is there. */
  amendLast(name: string, suffix: string): void {
    const values = this.#valuesOf(name);
    if (values !== undefined) values.push(`${values.pop()}${suffix}`);
  }

  remove(name: string): void {
    const place = this.#places.get(name);
    if (place === undefined) return;
    this.#places.delete(name);
    const last = this.#entries.pop()!;
    if (last.name === name) return;
    this.#entries[place] = last;
    this.#places.set(last.name, place);
  }

  /** Those that the caller of a request is told: values that are not printable ASCII are left out, as the reference does. */
  printable(): { readonly name: string; readonly value: string }[] {
    const lines = [...this].filter(([, value]) => /^[\t\x20-\x7e]*$/.test(value));
    return lines.map(([name, value]) => ({ name, value }));
  }

  *[Symbol.iterator](): Generator<HeaderLine> {
    for (const { name, values } of this.#entries) {
      for (const value of values) yield [name, value];
    }
  }

  #valuesOf(name: string): string[] | undefined {
    const place = this.#places.get(name);
    return place === undefined ? undefined : this.#entries[place]!.values;
  }
}
