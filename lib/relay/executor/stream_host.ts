import type { PublicKeys } from "../noise/keys.ts";
import type { RelayStream } from "../stream/stream.ts";

/** What a registry is asked before a handshake is answered: everything in it comes from the same first message. */
export interface ValidationRequest {
  readonly harness: PublicKeys;
  /** At most `MAX_AUTHORIZATION_BYTES` of UTF-8. A secret. */
  readonly authorization: string;
  readonly streamId: string;
}

/**
 * What the registry said: only `valid` lets a harness in. `credentialsRejected` is about ourselves: the registry does not
 * take our own credential.
 */
export type Verdict = "valid" | "denied" | "credentialsRejected";

/** Who decides about the streams of an executor's socket, and takes those that are open. */
export interface StreamHost {
  /**
   * Asks the registry, which nobody else can speak for.
   *
   * @param signal Ends the request; the promise settles soon then, however.
   * @throws {CredentialError} We have nothing to show to the registry, which was not asked. Anything else: no answer.
   */
  validate(request: ValidationRequest, signal: AbortSignal): Promise<Verdict>;
  /** Takes an open stream; called in the turn in which it became one, so that no message is missed. */
  open(stream: RelayStream): void;
}
