import type { Outcome } from "./suite.ts";

/** What went wrong where everything has to be held, one paragraph for each attempt; empty: nothing. */
export function escapes(outcomes: readonly Outcome[]): string[] {
  return outcomes.filter(({ escaped, unclear }) => escaped.length > 0 || unclear !== undefined).map(describe);
}

export function describe({ attempt, policy, escaped, unclear, said }: Outcome): string {
  const lines = [...escaped, ...(unclear === undefined ? [] : [unclear]), ...said.trimEnd().split("\n")];
  return [`${attempt.name} [${policy?.name ?? "no sandbox"}]`, ...lines].join("\n    ");
}
