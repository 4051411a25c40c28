import type { Environment } from "../../lib/client/environment.ts";

/** Where a case plays: its environment, and what it may use. */
export interface Place {
  readonly environment: Environment;
  /** A directory of the case's own, empty. */
  readonly directory: string;
  /** An HTTP peer, see `http_cases.ts`. */
  readonly url: string;
}

/** What must be the same in every environment: the case checks it, and what it returns is compared as well. */
export interface Case {
  readonly name: string;
  run(place: Place): Promise<unknown>;
}

export type Failure =
  | Readonly<Record<"name" | "message" | "kind" | "code" | "dataKind" | "serverMessage", unknown>>
  | null;

/** What a program can tell of a failure; null: there was none. */
export async function failureOf(act: () => Promise<unknown>): Promise<Failure> {
  try {
    await act();
    return null;
  } catch (error) {
    const { name, message, kind, code, dataKind, serverMessage } = error as NonNullable<Failure>;
    return { name, message, kind, code, dataKind, serverMessage };
  }
}
