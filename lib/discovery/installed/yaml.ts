import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node, parseAllDocuments, visit } from "yaml";

/** The text is no YAML, or something else stands where a value of that kind is wanted. */
export class YamlError extends Error {
  override readonly name = "YamlError";
}

/** Longer texts are refused: reading dense ones takes about 20 ms a kilobyte, in which nobody else is served. */
export const MAX_YAML_LENGTH = 8_192;

/** Characters that YAML does not have, not even in comments; the library takes them all the same. */
// deno-lint-ignore no-control-regex
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\uFFFE\uFFFF]/;

/** A value in a document: what it is depends on what is wanted, since a plain `5` is a text as well as a number. */
export class YamlValue {
  readonly #node: Node | null;
  readonly #resolve: (node: Node | null) => Node | null;

  private constructor(node: Node | null, resolve: (node: Node | null) => Node | null) {
    this.#resolve = resolve;
    this.#node = resolve(node);
  }

  /**
   * One document.
   *
   * @throws {YamlError}
   */
  static parse(text: string): YamlValue {
    if (text.length > MAX_YAML_LENGTH) throw new YamlError("the text is too long");
    if (FORBIDDEN.test(text)) throw new YamlError("a control character is not allowed");
    // Scalars stay texts; keys that nobody wants may be there twice.
    const documents = parseAllDocuments(text, {
      schema: "failsafe",
      resolveKnownTags: false,
      uniqueKeys: false,
      logLevel: "silent",
      // Nobody is shown the lines around a defect, and there may be thousands of defects.
      prettyErrors: false,
    });
    const [document, second] = "empty" in documents ? [] : documents;
    if (second !== undefined) throw new YamlError("there is more than one document");
    if (document === undefined) return new YamlValue(null, (node) => node);
    const [defect] = document.errors;
    if (defect !== undefined) throw new YamlError(defect.code);
    const targets = aliasTargets(document);
    const resolve = (node: Node | null) => isAlias(node) ? targets.get(node) ?? null : node;
    return new YamlValue(document.contents, resolve);
  }

  /** Nothing, or one of the words for nothing. */
  get isNull(): boolean {
    if (this.#node === null) return true;
    return isScalar(this.#node) && this.#node.type === "PLAIN" && /^(?:|~|null|Null|NULL)$/.test(this.#text());
  }

  get #isUnwritten(): boolean {
    return this.#node === null || isScalar(this.#node) && this.#node.source === "" && this.#node.type === "PLAIN";
  }

  /**
   * The members with these names; none where nothing is written.
   *
   * @throws {YamlError} If it is no mapping, or has one of them twice.
   */
  members(...names: string[]): Map<string, YamlValue> {
    if (this.#isUnwritten) return new Map();
    if (!isMap(this.#node)) throw new YamlError("a mapping is wanted");
    const members = new Map<string, YamlValue>();
    for (const { key, value } of this.#node.items) {
      const name = new YamlValue(key as Node | null, this.#resolve).string();
      if (!names.includes(name)) continue;
      if (members.has(name)) throw new YamlError(`${name} is there twice`);
      members.set(name, new YamlValue(value as Node | null, this.#resolve));
    }
    return members;
  }

  /**
   * None where nothing is written.
   *
   * @throws {YamlError} If it is no sequence.
   */
  items(): YamlValue[] {
    if (this.#isUnwritten) return [];
    if (!isSeq(this.#node)) throw new YamlError("a sequence is wanted");
    return this.#node.items.map((item) => new YamlValue(item as Node | null, this.#resolve));
  }

  /**
   * @throws {YamlError} If it is no scalar.
   */
  string(): string {
    if (this.#node !== null && !isScalar(this.#node)) throw new YamlError("a string is wanted");
    return this.#text();
  }

  /**
   * @throws {YamlError} If it is none of the words for true and false.
   */
  boolean(): boolean {
    const text = this.#plainText();
    if (/^(?:true|True|TRUE)$/.test(text)) return true;
    if (/^(?:false|False|FALSE)$/.test(text)) return false;
    throw new YamlError("a boolean is wanted");
  }

  /**
   * @throws {YamlError} If it is no integer of 16 bits.
   */
  u16(): number {
    const text = this.#plainText();
    const match = /^\+?(0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+|0|[1-9]\d*)$/.exec(text);
    const value = match === null ? NaN : Number(match[1]);
    if (!(value <= 0xffff)) throw new YamlError("an integer of 16 bits is wanted");
    return value;
  }

  #plainText(): string {
    if (isScalar(this.#node) && this.#node.type !== "PLAIN") throw new YamlError("a plain scalar is wanted");
    return this.string();
  }

  #text(): string {
    return isScalar(this.#node) ? String(this.#node.value ?? "") : "";
  }
}

/**
 * Where the aliases lead: of several anchors with a name, to the last before. Looked up in one go; the library's own way
 * goes through the whole document for each alias.
 *
 * @throws {YamlError} If one leads nowhere, also one that nobody wants.
 */
function aliasTargets(document: Document): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Node(_key, node) {
      if (isAlias(node)) {
        const target = anchors.get(node.source);
        if (target === undefined) throw new YamlError("unknown anchor");
        targets.set(node, target);
      } else if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}
