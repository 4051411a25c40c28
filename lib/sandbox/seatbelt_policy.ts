/**
 * A plan in the language of macOS's own sandbox. The last rule that fits decides there, so what takes away comes after
 * what grants. No path stands in the text: each is a parameter, which the text only names.
 */

import { isAtOrBelow, parent } from "./byte_path.ts";
import { type Region, regionsOf } from "./plan_regions.ts";
import type { AccessPlan, AccessRule, BytePath } from "./policy.ts";
import { BASE_POLICY, NAME_SERVICE_SOCKET, NETWORK_POLICY } from "./seatbelt_base.ts";
import { anyCasePattern } from "./seatbelt_name_pattern.ts";

export interface SeatbeltPolicy {
  readonly text: string;
  /** Names and values of the parameters; the values are bytes. */
  readonly parameters: ReadonlyMap<string, string>;
}

export interface SeatbeltOptions {
  /** What nobody may see, whatever the plan says: real paths of what exists. */
  readonly hidden?: readonly { readonly path: BytePath; readonly found: "directory" | "file" }[];
  /** Where programs that use the network leave what they learn; null: nowhere. */
  readonly networkCache?: BytePath | null;
}

/** What reading takes: besides the content that something is there, and to run it. */
const READING = "file-read* file-test-existence file-map-executable process-exec";

/** @throws {Error} If the plan is refused. */
export function seatbeltPolicy(plan: AccessPlan, options: SeatbeltOptions = {}): SeatbeltPolicy {
  if (plan.refusal !== undefined) throw new Error(`a refused plan has no policy: ${plan.refusal}`);
  return new Writer(plan, options).policy();
}

class Writer {
  readonly #plan: AccessPlan;
  readonly #options: SeatbeltOptions;
  readonly #rules: readonly AccessRule[];
  readonly #readable: readonly Region[];
  readonly #writable: readonly Region[];
  readonly #names = new Map<string, string>();

  constructor(plan: AccessPlan, options: SeatbeltOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#rules = withHidden(plan.rules, options.hidden);
    this.#readable = regionsOf(this.#rules, (access) => access !== "deny");
    this.#writable = regionsOf(this.#rules, (access) => access === "write");
  }

  policy(): SeatbeltPolicy {
    const text = [
      BASE_POLICY,
      ...(this.#plan.network === "enabled" ? this.#network() : []),
      ...this.#allow(READING, this.#readable),
      ...this.#allow("file-write*", this.#writable),
      rule("deny", "file-write-unlink", this.#pins().map((path) => this.#literal(path))),
      rule("deny", `${READING} file-write*`, this.#denials()),
      rule("allow", "file-read-metadata file-test-existence", this.#ways().map((path) => this.#literal(path))),
    ];
    return { text: text.join(""), parameters: new Map([...this.#names].map(([value, name]) => [name, value])) };
  }

  #network(): string[] {
    const cache = this.#options.networkCache ?? null;
    return [
      NETWORK_POLICY,
      // A socket that may not be seen may not be spoken to either.
      ...(this.#readable.some(isEverything) ? ["(allow network-outbound)\n"] : [
        rule("allow", "network-outbound", ['(remote ip "*:*")', `(literal "${NAME_SERVICE_SOCKET}")`]),
        ...this.#allow("network-outbound", this.#readable, (filter) => `(remote unix-socket ${filter})`),
      ]),
      ...(cache === null ? [] : [rule("allow", "file-read* file-write*", [this.#tree(cache)])]),
    ];
  }

  /** @param within What a filter of paths has to stand in. */
  #allow(operations: string, regions: readonly Region[], within = (filter: string) => filter): string[] {
    if (regions.some(isEverything)) return [`(allow ${operations})\n`];
    return [rule("allow", operations, regions.map((region) => this.#region(region, within)))];
  }

  #region({ root, without }: Region, within: (filter: string) => string): string {
    const inside = within(this.#tree(root.path));
    if (without.length === 0) return inside;
    const outside = without.flatMap((one) => this.#filters(one)).map((filter) => `(require-not ${within(filter)})`);
    return `(require-all ${[inside, ...outside].join(" ")})`;
  }

  /** The path, also before it exists, and what is below it. */
  #filters(one: AccessRule): string[] {
    const filters = [this.#literal(one.path), this.#tree(one.path)];
    // What exists is known by its real spelling, what may yet be made is not.
    if (one.found === "missing" || one.isProtection) {
      filters.push(`(regex ${this.#parameter(anyCasePattern(one.path))})`);
    }
    return filters;
  }

  /**
   * Directories in which something is kept from being written or read, as far as they may be written themselves: renamed,
   * they would take it to where no rule knows it.
   */
  #pins(): BytePath[] {
    const kept = this.#writable.flatMap(({ root, without }) => without.flatMap(({ path }) => between(root.path, path)));
    return [...new Set(kept)].sort();
  }

  #denials(): string[] {
    return regionsOf(this.#rules, (access) => access === "deny").map(({ root, without }) => {
      const filters = this.#filters(root);
      const denied = `(require-any ${filters.join(" ")})`;
      const kept = without.map(({ path }) => `(require-not ${this.#tree(path)})`);
      return kept.length === 0 ? denied : `(require-all ${[denied, ...kept].join(" ")})`;
    });
  }

  /** The directories above what may be read, and the links that it is spelled with: they can be gone through, not listed. */
  #ways(): BytePath[] {
    const roots = this.#readable.map(({ root }) => root.path);
    const links = this.#plan.links.map(({ path }) => path).filter((path) => !isHidden(path, this.#options.hidden));
    const above = [...roots, ...links].flatMap((path) => path === "/" ? [] : between("/", path));
    return [...new Set([...above, ...links])].sort();
  }

  #literal(path: BytePath): string {
    return `(literal ${this.#parameter(path)})`;
  }

  #tree(path: BytePath): string {
    return `(subpath ${this.#parameter(path)})`;
  }

  #parameter(value: string): string {
    let name = this.#names.get(value);
    if (name === undefined) this.#names.set(value, name = `P${this.#names.size}`);
    return `(param "${name}")`;
  }
}

/** What is hidden is denied, and nothing below it is granted. */
function withHidden(rules: readonly AccessRule[], hidden: SeatbeltOptions["hidden"] = []): AccessRule[] {
  return [
    ...rules.filter(({ path }) => !isHidden(path, hidden)),
    ...hidden.map((one): AccessRule => ({ ...one, access: "deny", isProtection: false })),
  ];
}

function isHidden(path: BytePath, hidden: SeatbeltOptions["hidden"] = []): boolean {
  return hidden.some((one) => isAtOrBelow(path, one.path));
}

function isEverything({ root, without }: Region): boolean {
  return root.path === "/" && without.length === 0;
}

/** The directories from one on, down to the one that a path lies in. */
function between(from: BytePath, path: BytePath): BytePath[] {
  const directories: BytePath[] = [];
  for (let at = parent(path);; at = parent(at)) {
    directories.push(at);
    if (at === from || at === "/") return directories;
  }
}

/** Empty where nothing is meant: a rule without a filter would be about everything. */
function rule(decision: "allow" | "deny", operations: string, filters: readonly string[]): string {
  return filters.length === 0 ? "" : `(${decision} ${operations}\n  ${filters.join("\n  ")})\n`;
}
