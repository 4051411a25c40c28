/**
 * JSON ⇄ value, one small codec per kind. A codec refuses what the reference refuses, in its words, and encodes what
 * the other side's codec takes.
 */

import { Base64Error, decodeBase64, encodeBase64 } from "./base64.ts";
import { borrowBuffer } from "./buffer_pool.ts";
import { describeJson } from "./decode_text.ts";
import { ExecError } from "./errors.ts";
import { copyString, type Json, JsonNumber, plainJson } from "./json.ts";
import { exactInteger } from "./json_text.ts";
import { PathUri } from "./path_uri.ts";

export interface Codec<T> {
  /**
   * @param buffered Whether `json` stands below a tagged union: the reference buffers such documents before it decodes
   * them and then words a few refusals differently.
   * @throws {ExecError} `invalidParams`.
   */
  decode(json: Json, buffered?: boolean): T;
  /** A value for `JSON.stringify`; undefined leaves the member out. */
  encode(value: T): unknown;
  /** The same as JSON text, where that can be had more cheaply. */
  toJson?(value: T): string;
}

export type Decoded<C> = C extends Codec<infer T> ? T : never;

export function refusal(message: string): ExecError {
  return new ExecError("invalidParams", message);
}

export function invalidType(json: Json, expected: string, buffered = false): ExecError {
  return refusal(`invalid type: ${describeJson(json, buffered)}, expected ${expected}`);
}

const asItIs = <T>(value: T): unknown => value;

export const string: Codec<string> = {
  decode(json, buffered) {
    if (typeof json !== "string") throw invalidType(json, "a string", buffered);
    return json;
  },
  encode: asItIs,
};

/** A text that is remembered beyond the request, and therefore copied out of the message. */
export const identifier: Codec<string> = {
  decode: (json, buffered) => copyString(string.decode(json, buffered)),
  encode: asItIs,
};

export const boolean: Codec<boolean> = {
  decode(json, buffered) {
    if (typeof json !== "boolean") throw invalidType(json, "a boolean", buffered);
    return json;
  },
  encode: asItIs,
};

/** Numbers with more digits are too large, and are not converted: that takes seconds for millions of digits. */
const MAX_U64_DIGITS = 20;

/** Digits only: no fraction and no exponent, as the reference. */
function integerText(json: Json, type: string, buffered: boolean | undefined): string {
  if (!(json instanceof JsonNumber)) throw invalidType(json, type, buffered);
  return json.text;
}

/**
 * An unsigned integer of `bits` bits. What is beyond 2^53 - 1 becomes 2^53 - 1: for a count, a limit or a duration
 * that is as endless as the number that was meant.
 */
function unsigned(type: string, bits: number): Codec<number> {
  const limit = 2n ** BigInt(bits);
  return {
    decode(json, buffered) {
      const text = integerText(json, type, buffered);
      if (!/^\d+$/.test(text)) throw refusal("invalid number");
      const value = Number(text);
      if (value >= Number(limit) && (text.length > MAX_U64_DIGITS || BigInt(text) >= limit)) {
        throw refusal("invalid number");
      }
      return Math.min(value, Number.MAX_SAFE_INTEGER);
    },
    encode: asItIs,
  };
}

export const u16 = unsigned("u16", 16);
export const u64 = unsigned("u64", 64);
export const usize = unsigned("usize", 64);

/** An unsigned 64-bit integer that must stay exact: an offset, or a number that is sent back. */
export const exactU64: Codec<bigint> = {
  decode(json, buffered) {
    const text = integerText(json, "u64", buffered);
    if (!/^\d+$/.test(text) || text.length > MAX_U64_DIGITS || BigInt(text) >= 2n ** 64n) {
      throw refusal("invalid number");
    }
    return BigInt(text);
  },
  encode: exactInteger,
};

/** A signed integer of 64 bits; what is beyond ±(2^53 - 1) becomes the nearest of the two. */
export const i64: Codec<number> = {
  decode(json, buffered) {
    const text = integerText(json, "i64", buffered);
    if (!/^-?\d+$/.test(text)) throw refusal("invalid number");
    const value = Number(text);
    if (Math.abs(value) >= 2 ** 63) {
      if (text.length > MAX_U64_DIGITS || BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) {
        throw refusal("invalid number");
      }
    }
    return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(value, Number.MAX_SAFE_INTEGER)) + 0;
  },
  encode: asItIs,
};

export const base64 = base64Codec();
/** The same in a buffer of the pool's (`buffer_pool.ts`): whoever is done with the bytes should give them back. */
export const pooledBase64 = base64Codec(borrowBuffer);

function base64Codec(room?: (length: number) => Uint8Array<ArrayBuffer>): Codec<Uint8Array<ArrayBuffer>> {
  return {
    decode(json, buffered) {
      const text = string.decode(json, buffered);
      try {
        return decodeBase64(text, room);
      } catch (error) {
        if (error instanceof Base64Error) throw new ExecError("invalidParams", error.message, { cause: error });
        throw error;
      }
    },
    encode: encodeBase64,
  };
}

/** A `file:` URI; whether this machine has such paths is found out when it is used. */
export const pathUri: Codec<PathUri> = {
  decode: (json, buffered) => PathUri.parse(string.decode(json, buffered)),
  encode: (uri) => uri.text,
};

/** No parameters: absent, null or an empty object. */
export const noParams: Codec<null> = {
  decode(json) {
    if (json === null || (json instanceof Map && json.size === 0)) return null;
    throw invalidType(json, "unit");
  },
  encode: asItIs,
};

/** The empty result, `{}`. Whatever else a peer puts into it is ignored. */
export const empty: Codec<Record<never, never>> = { decode: () => ({}), encode: asItIs };

/** Any JSON, as plain JavaScript values. */
export const anything: Codec<unknown> = { decode: plainJson, encode: asItIs };

export function seq<T>(item: Codec<T>): Codec<readonly T[]> {
  return {
    decode(json, buffered) {
      if (!Array.isArray(json)) throw invalidType(json, "a sequence", buffered);
      return json.map((element) => item.decode(element, buffered));
    },
    encode: (items) => items.map((element) => item.encode(element)),
  };
}

/** Names are the peer's: a Map, so that `__proto__` is one like any other. */
export function map<T>(value: Codec<T>): Codec<ReadonlyMap<string, T>> {
  return {
    decode(json, buffered) {
      if (!(json instanceof Map)) throw invalidType(json, "a map", buffered);
      const members = new Map<string, T>();
      for (const [key, member] of json) members.set(key, value.decode(member, buffered));
      return members;
    },
    encode: (members) => Object.fromEntries([...members].map(([key, member]) => [key, value.encode(member)])),
  };
}

export function nullable<T>(codec: Codec<T>): Codec<T | null> {
  return {
    decode: (json, buffered) => json === null ? null : codec.decode(json, buffered),
    encode: (value) => value === null ? null : codec.encode(value),
  };
}

/** Null means `value`. */
export function nullAs<T>(codec: Codec<T>, value: T): Codec<T> {
  return { decode: (json, buffered) => json === null ? value : codec.decode(json, buffered), encode: codec.encode };
}

/**
 * One of a few names; as in the reference also `{"name": null}`.
 *
 * @param aliases Other spellings, each with the name that it means; refusals list them behind the names.
 */
export function enumeration<const N extends string>(
  names: readonly N[],
  aliases: Readonly<Record<string, N>> = {},
): Codec<N> {
  const meanings = new Map<string, N>([...names.map((name) => [name, name] as const), ...Object.entries(aliases)]);
  return {
    decode(json, buffered = false) {
      let name = json;
      let content: Json = null;
      if (json instanceof Map) {
        const [first, ...more] = json as ReadonlyMap<string, Json>;
        if (first === undefined || more.length > 0) {
          throw refusal("invalid value: map, expected map with a single key");
        }
        [name, content] = first;
      }
      if (typeof name !== "string") throw invalidType(json, "string or map", buffered);
      const meaning = meanings.get(name);
      if (meaning === undefined) throw unknownVariant(name, [...meanings.keys()]);
      // A buffered document also has an empty object for "nothing".
      if (content !== null && !(buffered && content instanceof Map && content.size === 0)) {
        throw invalidType(content, "unit", buffered);
      }
      return meaning;
    },
    encode: asItIs,
  };
}

export function unknownVariant(name: string, known: readonly string[]): ExecError {
  const quoted = known.map((variant) => `\`${variant}\``);
  const list = quoted.length > 2 ? `one of ${quoted.join(", ")}` : quoted.join(" or ");
  return refusal(`unknown variant \`${name}\`, expected ${list}`);
}
