import type { Clock } from "../../clock.ts";
import { CredentialError } from "../credential.ts";
import { MAX_VALIDATIONS, VALIDATE_TIMEOUT_MS } from "../limits.ts";
import type { StreamHost, ValidationRequest, Verdict } from "./stream_host.ts";

/** A verdict, or why there is none. */
export type ValidationOutcome = Verdict | "failed" | "no credential";

/**
 * The validations of one socket. Each occupies a slot until its request has really ended, also when nobody waits for the
 * verdict any more: otherwise a peer that resets what it has just begun could have any number of requests made.
 */
export class Validations {
  readonly #validate: StreamHost["validate"];
  readonly #clock: Clock;
  readonly #aborter = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(host: StreamHost, clock: Clock) {
    this.#validate = (request, signal) => host.validate(request, signal);
    this.#clock = clock;
  }

  /** `MAX_VALIDATIONS` have not ended. */
  get full(): boolean {
    return this.#running.size >= MAX_VALIDATIONS;
  }

  /** Asks the registry, which has `VALIDATE_TIMEOUT_MS`. Takes a slot in this turn. Never rejects. */
  start(request: ValidationRequest): Promise<ValidationOutcome> {
    const limit = new AbortController();
    const { promise, resolve } = Promise.withResolvers<ValidationOutcome>();
    const giveUp = (reason: unknown) => {
      timer.cancel();
      resolve("failed");
      limit.abort(reason);
    };
    const timer = this.#clock.after(VALIDATE_TIMEOUT_MS, () => giveUp(new DOMException("timed out", "TimeoutError")));
    const cancel = () => giveUp(this.#aborter.signal.reason);
    this.#aborter.signal.addEventListener("abort", cancel, { once: true });

    const running = this.#outcome(request, limit.signal).then((outcome) => {
      timer.cancel();
      this.#aborter.signal.removeEventListener("abort", cancel);
      this.#running.delete(running);
      resolve(outcome);
    });
    this.#running.add(running);
    return promise;
  }

  /** Ends all requests; their outcome is that they failed. Resolves when none is left. Nothing is started afterwards. */
  async end(): Promise<void> {
    this.#aborter.abort(new DOMException("the connection to the rendezvous has ended", "AbortError"));
    await Promise.all(this.#running);
  }

  async #outcome(request: ValidationRequest, signal: AbortSignal): Promise<ValidationOutcome> {
    try {
      return await this.#validate(request, signal);
    } catch (error) {
      // Why is the registry's, or a credential's, own matter: a validation's error may repeat the authorization.
      return error instanceof CredentialError ? "no credential" : "failed";
    }
  }
}
