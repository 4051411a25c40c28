/** Rules by their paths, while a plan comes into being. */

import { parent } from "./byte_path.ts";
import { PlanError } from "./plan_error.ts";
import type { Access, AccessRule, BytePath } from "./policy.ts";

/** Most rules of a plan; each may become a mount, and mounting takes longer the more there are. */
const MAX_RULES = 5000;

/** Of two rules for the same path the stronger one counts. */
const STRENGTH: Readonly<Record<Access, number>> = { read: 0, write: 1, deny: 2 };

export class RuleMap {
  readonly #rules = new Map<BytePath, AccessRule>();

  get(path: BytePath): AccessRule | undefined {
    return this.#rules.get(path);
  }

  /** @throws {PlanError} If there are too many. */
  add(rule: AccessRule): void {
    const before = this.#rules.get(rule.path);
    const access = before !== undefined && STRENGTH[before.access] > STRENGTH[rule.access]
      ? before.access
      : rule.access;
    const isProtection = rule.isProtection || before?.isProtection === true;
    this.#rules.set(rule.path, { ...rule, access, isProtection });
    if (this.#rules.size > MAX_RULES) throw new PlanError(`the sandbox has more than ${MAX_RULES} paths to watch`);
  }

  /** The longest rule at or above a path. */
  deciding(path: BytePath): AccessRule | undefined {
    for (let at = path;; at = parent(at)) {
      const rule = this.#rules.get(at);
      if (rule !== undefined || at === "/") return rule;
    }
  }

  /** Those that may be written, as they are now. */
  writable(): AccessRule[] {
    return [...this.#rules.values()].filter(({ access }) => access === "write");
  }

  /**
   * All rules that make a difference, sorted. To deny everything is what no rule says as well, and then what is granted
   * below counts. Anywhere else a grant for reading does not reach below a denial.
   */
  finish(): AccessRule[] {
    if (this.#rules.get("/")?.access === "deny") this.#rules.delete("/");
    const sorted = [...this.#rules.keys()].sort(compare);
    for (const path of sorted) {
      const { access } = this.#rules.get(path)!;
      const above = path === "/" ? undefined : this.deciding(parent(path))?.access;
      if (access === above || (access === "read" && above === "deny")) this.#rules.delete(path);
    }
    return [...this.#rules.values()].sort((a, b) => compare(a.path, b.path));
  }
}

/** By bytes. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
