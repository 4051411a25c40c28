/**
 * The language of macOS's sandbox as far as our policies use it for files: says what a policy decides. Whatever it does
 * not know makes it throw, so that a policy in other words is noticed.
 */

import type { SeatbeltPolicy } from "../../lib/sandbox/seatbelt_policy.ts";

export type Expression = string | readonly Expression[];

export type Decision = "allow" | "deny";

/** A text that is a whole number of expressions; strings keep their quotation marks. */
export function parse(text: string): Expression[] {
  const tokens = [...text.matchAll(/\s+|(#?"[^"]*"|[()]|[^\s()"]+)/g)];
  if (tokens.map(([token]) => token).join("") !== text) throw new Error("there is something that is no token");
  const open: Expression[][] = [[]];
  for (const [, token] of tokens) {
    if (token === undefined) continue;
    if (token === "(") open.push([]);
    else if (token === ")") {
      const done = open.pop()!;
      if (open.length === 0) throw new Error("a bracket too many");
      open.at(-1)!.push(done);
    } else open.at(-1)!.push(token);
  }
  if (open.length !== 1) throw new Error("a bracket is not closed");
  return open[0]!;
}

export class SeatbeltInterpreter {
  readonly #rules: { decision: Decision; operations: string[]; filters: Expression[] }[] = [];
  readonly #parameters: ReadonlyMap<string, string>;

  constructor({ text, parameters }: SeatbeltPolicy) {
    this.#parameters = parameters;
    const [version, ...rules] = parse(text);
    if (JSON.stringify(version) !== '["version","1"]') throw new Error("no version");
    for (const rule of rules) {
      const [decision, ...words] = rule as Expression[];
      if (decision !== "allow" && decision !== "deny") throw new Error(`neither allows nor denies: ${decision}`);
      const operations = words.filter((word) => typeof word === "string");
      this.#rules.push({ decision, operations, filters: words.filter((word) => typeof word !== "string") });
    }
  }

  /** @param path Real, in bytes. */
  decide(operation: string, path: string): Decision {
    const rule = this.#rules.findLast(({ operations, filters }) =>
      operations.some((name) => covers(name, operation)) &&
      (filters.length === 0 || filters.some((filter) => this.#fits(filter, path)))
    );
    return rule?.decision ?? "deny";
  }

  #fits(filter: Expression, path: string): boolean {
    const [name, ...rest] = filter as readonly [string, ...Expression[]];
    switch (name) {
      case "require-all":
        return rest.every((one) => this.#fits(one, path));
      case "require-any":
        return rest.some((one) => this.#fits(one, path));
      case "require-not":
        return rest.length === 1 && !this.#fits(rest[0]!, path);
      case "literal":
        return path === this.#text(rest[0]!);
      case "subpath": {
        const above = this.#text(rest[0]!);
        return above === "/" || path === above || path.startsWith(`${above}/`);
      }
      case "regex":
        return new RegExp(this.#text(rest[0]!)).test(path);
      case "extension":
        return false;
      default:
        throw new Error(`unknown filter ${name}`);
    }
  }

  #text(expression: Expression): string {
    if (typeof expression === "string") return expression.replace(/^#?"|"$/g, "");
    const value = expression[0] === "param" ? this.#parameters.get(this.#text(expression[1]!)) : undefined;
    if (value === undefined) throw new Error(`no text: ${JSON.stringify(expression)}`);
    return value;
  }
}

function covers(name: string, operation: string): boolean {
  return name === "default" || name === operation || (name.endsWith("*") && operation.startsWith(name.slice(0, -1)));
}
