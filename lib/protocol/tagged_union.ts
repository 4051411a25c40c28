import { buffer, typedNumber } from "../buffered.ts";
import { type Codec, invalidType, refusal, unknownVariant } from "../codec.ts";
import { describeJson } from "../decode_text.ts";
import { type Json, JsonNumber, type JsonObject } from "../json.ts";
import { type Fields, type Members, MemberTable } from "../struct.ts";

interface Variant<F extends Fields> {
  readonly title: string;
  readonly fields: F;
  readonly aliases: readonly string[];
}
type Variants = Readonly<Record<string, Variant<Fields>>>;
type Union<T extends string, V extends Variants> = {
  readonly [N in keyof V & string]: { readonly [K in T]: N } & Members<V[N]["fields"]>;
}[keyof V & string];

/**
 * One variant.
 *
 * @param title What the reference's refusals call it.
 * @param aliases Other spellings of its name.
 */
export function variant<const F extends Fields>(title: string, fields: F, aliases: readonly string[] = []): Variant<F> {
  return { title, fields, aliases };
}

/**
 * An object whose member `tag` says which other members it has.
 *
 * The reference buffers such an object before it decodes the members, which a peer can tell by how a number is
 * described, by how long an array may be, by integers of more than 64 bits being refused wherever they stand, and, one
 * level further down, by a tag that may be the number of a variant.
 */
export function taggedUnion<const T extends string, const V extends Variants>(
  name: string,
  tag: T,
  variants: V,
): Codec<Union<T, V>> {
  const choices = Object.entries(variants).map(([name, { title, fields, aliases }]) => ({
    name,
    spellings: [name, ...aliases].sort(),
    members: new MemberTable(`struct variant ${title}`, fields),
  }));
  type Choice = typeof choices[number];
  const bySpelling = new Map(choices.flatMap((choice) => choice.spellings.map((name) => [name, choice] as const)));

  function choose(name: Json, buffered: boolean): Choice {
    if (typeof name === "string") {
      const choice = bySpelling.get(name);
      if (choice === undefined) throw unknownVariant(name, [...bySpelling.keys()]);
      return choice;
    }
    if (buffered && name instanceof JsonNumber && /^\d+$/.test(name.text)) {
      const choice = choices[Number(name.text)];
      if (choice !== undefined) return choice;
      throw refusal(`invalid value: integer \`${name.text}\`, expected variant index 0 <= i < ${choices.length}`);
    }
    throw invalidType(name, "variant identifier", buffered);
  }

  function fromObject(json: JsonObject, buffered: boolean): Union<T, V> {
    const members = new Map<string, Json>();
    let choice: Choice | undefined;
    for (const [key, member] of json) {
      if (key === tag) choice = choose(member, buffered);
      else members.set(key, buffered ? member : buffer(member));
    }
    if (choice === undefined) throw refusal(`missing field \`${tag}\``);
    return { [tag]: choice.name, ...choice.members.fromObject(members, true) } as Union<T, V>;
  }

  function fromArray([first, ...rest]: readonly Json[], buffered: boolean): Union<T, V> {
    if (first === undefined) throw refusal(`missing field \`${tag}\``);
    const choice = choose(first, buffered);
    const items = buffered ? rest : rest.map(buffer);
    return { [tag]: choice.name, ...choice.members.fromArray(items, true) } as Union<T, V>;
  }

  return {
    decode(json, buffered = false) {
      const value = json instanceof JsonNumber && !buffered ? typedNumber(json) : json;
      if (value instanceof Map) return fromObject(value, buffered);
      if (Array.isArray(value)) return fromArray(value, buffered);
      const got = value !== json && typeof value === "string" ? value : describeJson(json, true);
      throw refusal(`invalid type: ${got}, expected internally tagged enum ${name}`);
    },
    encode(value) {
      const members = bySpelling.get(value[tag])?.members.encode(value as never);
      return { [tag]: value[tag], ...members };
    },
  };
}
