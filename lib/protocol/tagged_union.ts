import { describeJson } from "../decode_text.ts";
import { type Json, JsonNumber, type JsonObject } from "../json.ts";
import { buffer, typedNumber } from "./buffered.ts";
import { type Codec, invalidType, refusal, unknownVariant } from "./codec.ts";
import { type Fields, type Members, MemberTable } from "./struct.ts";

type Variants = Readonly<Record<string, { readonly title: string; readonly fields: Fields }>>;
type Union<T extends string, V extends Variants> = {
  readonly [N in keyof V & string]: { readonly [K in T]: N } & Members<V[N]["fields"]>;
}[keyof V & string];

/** One variant; `title` is its name in the reference's refusals. */
export function variant<const F extends Fields>(title: string, fields: F): { title: string; fields: F } {
  return { title, fields };
}

/**
 * An object whose member `tag` says which other members it has.
 *
 * The reference buffers such an object before it decodes the members, which a peer can tell by how a number is
 * described, by how long an array may be, and by integers of more than 64 bits being refused wherever they stand.
 */
export function taggedUnion<const T extends string, const V extends Variants>(
  name: string,
  tag: T,
  variants: V,
): Codec<Union<T, V>> {
  const title = `internally tagged enum ${name}`;
  const names = Object.keys(variants);
  const tables = new Map(
    Object.entries(variants).map(([name, variant]) =>
      [name, new MemberTable(`struct variant ${variant.title}`, variant.fields)] as const
    ),
  );

  function table(name: Json, buffered: boolean): MemberTable<Fields> {
    if (typeof name !== "string") throw invalidType(name, "variant identifier", buffered);
    const found = tables.get(name);
    if (found === undefined) throw unknownVariant(name, names);
    return found;
  }

  function fromObject(json: JsonObject, alreadyBuffered: boolean): Union<T, V> {
    const members = new Map<string, Json>();
    let chosen: string | undefined;
    for (const [key, member] of json) {
      if (key !== tag) {
        members.set(key, alreadyBuffered ? member : buffer(member));
        continue;
      }
      table(member, alreadyBuffered);
      chosen = member as string;
    }
    if (chosen === undefined) throw refusal(`missing field \`${tag}\``);
    return { [tag]: chosen, ...table(chosen, true).fromObject(members, true) } as Union<T, V>;
  }

  function fromArray([first, ...rest]: readonly Json[], alreadyBuffered: boolean): Union<T, V> {
    if (first === undefined) throw refusal(`missing field \`${tag}\``);
    const chosen = table(first, alreadyBuffered);
    const items = alreadyBuffered ? rest : rest.map(buffer);
    return { [tag]: first, ...chosen.fromArray(items, true) } as Union<T, V>;
  }

  return {
    decode(json, buffered = false) {
      const value = json instanceof JsonNumber && !buffered ? typedNumber(json) : json;
      if (value instanceof Map) return fromObject(value, buffered);
      if (Array.isArray(value)) return fromArray(value, buffered);
      const got = value !== json && typeof value === "string" ? value : describeJson(json, true);
      throw refusal(`invalid type: ${got}, expected ${title}`);
    },
    encode(value) {
      const members = tables.get(value[tag])?.encode(value as never);
      return { [tag]: value[tag], ...members };
    },
  };
}
