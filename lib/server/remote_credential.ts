import { waitingClock } from "../clock.ts";
import type { ChosenCredential, CredentialChoice } from "../relay/credentials/choose.ts";
import type { ByteReader } from "../relay/credentials/stdin_lines.ts";

export type { ByteReader, ChosenCredential, CredentialChoice };

/** Where a credential of the command line comes from. */
export interface CredentialSources {
  readonly registry: string;
  readonly environmentId: string;
  readonly env: (name: string) => string | undefined;
  readonly stdin: ByteReader;
  /** Hears of what went wrong and does not end anything. Without secrets. */
  readonly warn: (message: string) => void;
  readonly signal: AbortSignal;
  /** The end of standard input ends everything, also where it holds no credential. */
  readonly endsWithStdin?: boolean;
}

/**
 * The credential that the command line asks for, for a registry.
 *
 * @returns With `ended` where standard input is the life line.
 * @throws {CredentialError} There is none, or not for this registry. Or the signal's reason.
 */
export async function remoteCredential(
  choice: CredentialChoice,
  { stdin, endsWithStdin = false, ...sources }: CredentialSources,
): Promise<ChosenCredential> {
  const [{ chooseCredential }, { StdinLines }] = await Promise.all([
    import("../relay/credentials/choose.ts"),
    import("../relay/credentials/stdin_lines.ts"),
  ]);
  const lines = new StdinLines(stdin);
  const chosen = await chooseCredential(choice, {
    ...sources,
    environmentId: sources.environmentId.trim(),
    stdin: lines,
    fetch,
    clock: waitingClock,
    now: Date.now,
  });
  return endsWithStdin && chosen.ended === undefined ? { ...chosen, ended: lines.ended() } : chosen;
}
