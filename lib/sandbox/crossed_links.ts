import { toText } from "./byte_path.ts";
import { PlanError } from "./plan_error.ts";
import type { BytePath, PlanLink } from "./policy.ts";
import type { RuleMap } from "./rule_map.ts";

/**
 * A path that takes something away must not depend on a link that may be replaced from inside.
 *
 * @param path As it is spelled.
 * @param links Those on its way.
 * @throws {PlanError}
 */
export function checkLinks(rules: RuleMap, path: BytePath, access: "read" | "deny", links: readonly PlanLink[]): void {
  const writable = links.find((link) => rules.deciding(link.path)?.access === "write");
  if (writable === undefined) return;
  const kind = access === "deny" ? "deny-read" : "read-only";
  throw new PlanError(
    `cannot enforce sandbox ${kind} path ${toText(path)} because it crosses writable symlink ${toText(writable.path)}`,
  );
}
