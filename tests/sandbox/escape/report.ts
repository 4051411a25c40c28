import type { Outcome } from "./suite.ts";

/** What went wrong where everything has to be held, one paragraph for each attempt; empty: nothing. */
export function escapes(outcomes: readonly Outcome[]): string[] {
  return outcomes.filter(({ escaped, unclear }) => escaped.length > 0 || unclear !== undefined).map(describe);
}

export function describe({ attempt, policy, escaped, unclear, said }: Outcome): string {
  const lines = [...escaped, ...(unclear === undefined ? [] : [unclear]), ...said.trimEnd().split("\n")];
  return [`${attempt.name} [${policy?.name ?? "no sandbox"}]`, ...lines].join("\n    ");
}

/** An outcome as one process tells it to another. */
export interface Told {
  readonly attempt: string;
  readonly policy: string | null;
  readonly escaped: readonly string[];
  readonly unclear?: string;
  readonly description: string;
}

/** One line of JSON. */
export function tell(outcomes: readonly Outcome[]): string {
  return JSON.stringify(outcomes.map((outcome): Told => {
    const { attempt, policy, escaped, unclear } = outcome;
    const description = describe(outcome);
    return {
      ...{ attempt: attempt.name, policy: policy?.name ?? null, escaped, description },
      ...(unclear === undefined ? {} : { unclear }),
    };
  }));
}
