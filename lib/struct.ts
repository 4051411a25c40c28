import type { Json, JsonObject } from "./json.ts";
import { type Codec, invalidType, nullable, nullAs, refusal } from "./codec.ts";

/** What a member may be if it is absent. A plain codec is a member that must be there. */
export interface Field<T> extends Codec<T> {
  readonly whenAbsent: () => T;
  /** Whether it may also be absent from a structure that is written as an array. */
  readonly positionally: boolean;
}

/** Absent or null: null. */
export function optional<T>(codec: Codec<T>): Field<T | null> {
  return { ...nullable(codec), whenAbsent: () => null, positionally: false };
}

/** Absent or null: the value given. */
export function optionalOr<T>(codec: Codec<T>, value: T): Field<T> {
  return { ...nullAs(codec, value), whenAbsent: () => value, positionally: false };
}

/** Absent or null: null; null is left out when encoding, for peers that take the mere presence for a value. */
export function omittable<T>(codec: Codec<T>): Field<T | null> {
  return { ...optional(codec), encode: (value) => value === null ? undefined : codec.encode(value) };
}

/** Absent: the value given. Null is refused unless the codec is nullable. */
export function defaulted<T>(codec: Codec<T>, value: T): Field<T> {
  return { decode: codec.decode, encode: codec.encode, whenAbsent: () => value, positionally: true };
}

// deno-lint-ignore no-explicit-any -- a table of codecs of any types; `unknown` would refuse every codec that encodes
export type Fields = Readonly<Record<string, Codec<any>>>;
export type Members<F extends Fields> = { readonly [N in keyof F]: F[N] extends Codec<infer T> ? T : never };

/**
 * An object with known members; others are ignored. Among several defects the first bad member in the order sent is
 * named, and missing ones only after all that are there have been decoded. Arrays in the order of declaration are
 * taken as well, as in the reference.
 *
 * @param name What refusals call it.
 */
export function struct<const F extends Fields>(name: string, fields: F): Codec<Members<F>> {
  const members = new MemberTable<F>(`struct ${name}`, fields);
  return {
    decode(json, buffered = false) {
      if (json instanceof Map) return members.fromObject(json, buffered);
      if (Array.isArray(json)) return members.fromArray(json, buffered);
      throw invalidType(json, `struct ${name}`, buffered);
    },
    encode: (value) => members.encode(value),
  };
}

/** The members of a structure, or of one variant of a tagged union. */
export class MemberTable<F extends Fields> {
  readonly #title: string;
  readonly #names: readonly (keyof F & string)[];
  readonly #codecs: readonly Codec<unknown>[];
  readonly #places: ReadonlyMap<string, number>;

  /** @param title As in `invalid length 0, expected TITLE with 3 elements`. */
  constructor(title: string, fields: F) {
    this.#title = title;
    this.#names = Object.keys(fields);
    this.#codecs = Object.values(fields);
    this.#places = new Map(this.#names.map((name, place) => [name, place]));
  }

  /** @param other Hears of the members that are none of ours, in the order sent. */
  fromObject(json: JsonObject, buffered: boolean, other?: (name: string, member: Json) => void): Members<F> {
    const values: unknown[] = this.#names.map(() => undefined);
    for (const [name, member] of json) {
      const place = this.#places.get(name);
      if (place !== undefined) values[place] = this.#codecs[place]?.decode(member, buffered);
      else other?.(name, member);
    }
    const complete: Record<string, unknown> = {};
    for (let place = 0; place < values.length; place++) {
      const name = this.#names[place] as string;
      const value = values[place];
      complete[name] = value === undefined ? this.#whenAbsent(place, name) : value;
    }
    return complete as Members<F>;
  }

  #whenAbsent(place: number, name: string): unknown {
    const codec = this.#codecs[place] as Codec<unknown>;
    if (!isField(codec)) throw refusal(`missing field \`${name}\``);
    return codec.whenAbsent();
  }

  fromArray(json: readonly Json[], buffered: boolean): Members<F> {
    const values = this.#codecs.map((codec, place) => {
      const item = json[place];
      if (item !== undefined) return codec.decode(item, buffered);
      if (isField(codec) && codec.positionally) return codec.whenAbsent();
      throw refusal(`invalid length ${place}, expected ${this.#title} with ${elements(this.#names.length)}`);
    });
    if (json.length > values.length) {
      const expected = buffered ? `${elements(values.length)} in sequence` : "fewer elements in array";
      throw refusal(`invalid length ${json.length}, expected ${expected}`);
    }
    return Object.fromEntries(values.map((value, place) => [this.#names[place], value])) as Members<F>;
  }

  encode(value: Members<F>): Record<string, unknown> {
    const encoded: Record<string, unknown> = {};
    this.#names.forEach((name, place) => encoded[name] = this.#codecs[place]?.encode(value[name]));
    return encoded;
  }
}

function isField(codec: Codec<unknown>): codec is Field<unknown> {
  return "whenAbsent" in codec;
}

function elements(count: number): string {
  return count === 1 ? "1 element" : `${count} elements`;
}
