/** `note`: worth knowing, and nothing is wrong. */
export type CheckStatus = "ok" | "note" | "failed" | "skipped";

/** What one look found out. */
export interface Finding {
  readonly status: CheckStatus;
  /** One line. */
  readonly detail: string;
  /** What to do; one line. */
  readonly advice?: string;
}

/** One thing that can be right or wrong. */
export interface Check<Context> {
  readonly name: string;
  /** @throws Whatever it likes: that is a failure, told in its words. */
  look(context: Context): Promise<Finding>;
}

export function ok(detail: string): Finding {
  return { status: "ok", detail };
}

export function note(detail: string, advice?: string): Finding {
  return { status: "note", detail, ...(advice === undefined ? {} : { advice }) };
}

export function failed(detail: string, advice?: string): Finding {
  return { status: "failed", detail, ...(advice === undefined ? {} : { advice }) };
}

export const skipped: Finding = { status: "skipped", detail: "not looked at, because of what failed before" };
