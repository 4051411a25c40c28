import { type Credential, CredentialError } from "../credential.ts";
import { abortable } from "../../abortable.ts";
import type { RegistryAction } from "./environment_url.ts";
import { RegistryError } from "./registry_error.ts";
import type { RegistryHttp } from "./registry_http.ts";
import { type Expected, readSuccess, type ShownTo, type Success } from "./registry_result.ts";
import { Secrets } from "./secrets.ts";

export interface Question {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Of one request; a second one, with a renewed credential, has as much. */
  readonly timeoutMs: number;
}

const UNAUTHORIZED = 401;

/** Asks a registry, and shows it who asks. */
export class RegistryExchange {
  readonly #http: RegistryHttp;
  readonly #credential: Credential;

  constructor(http: RegistryHttp, credential: Credential) {
    [this.#http, this.#credential] = [http, credential];
  }

  /**
   * The answer, whatever its status is. After a 401 the credential is renewed, if it can be, and the question repeated once.
   *
   * @param wantsBody Whether the body of an answer with this status is read.
   * @throws {CredentialError} Nothing was asked. {RegistryError}: there is no answer. Or the signal's reason.
   */
  async send(
    action: RegistryAction,
    question: Question,
    wantsBody: (status: number) => boolean,
  ): Promise<ShownTo> {
    const { signal, timeoutMs } = question;
    const body = new TextEncoder().encode(JSON.stringify(question.body));
    const attempt = async (shown: Readonly<Record<string, string>>) => {
      const headers = { ...question.headers, ...shown };
      return await this.#http.post({ action, body, headers, signal, timeoutMs, wantsBody });
    };
    let shown = await this.#headers(signal);
    let answer = await attempt(shown);
    if (answer.status === UNAUTHORIZED && await this.#renewed(shown, signal)) {
      shown = await this.#headers(signal);
      answer = await attempt(shown);
    }
    return { ...answer, secrets: new Secrets(shown) };
  }

  // An embedder's credential may not look at the signal.

  #headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    return abortable(this.#credential.headers(signal), signal);
  }

  async #renewed(refused: Readonly<Record<string, string>>, signal: AbortSignal): Promise<boolean> {
    const renewing = this.#credential.renew?.(refused, signal);
    return renewing !== undefined && await abortable(renewing, signal);
  }

  /**
   * What a successful answer has.
   *
   * @throws {RegistryError} Also where there is no credential. Or the signal's reason.
   */
  async ask<N extends string, O extends string>(
    action: RegistryAction,
    question: Question,
    expected: Expected<N, O>,
  ): Promise<Success<N, O>> {
    try {
      const answer = await this.send(action, question, () => true);
      return readSuccess(answer, { ...expected, hidesBody: this.#credential.hidesErrorBodies ?? false });
    } catch (error) {
      throw error instanceof CredentialError ? withoutCredential(error) : error;
    }
  }
}

/** Nothing was asked. */
export function withoutCredential(error: CredentialError): RegistryError {
  const why = `failed to resolve environment registry authentication: request auth build error: ${error.message}`;
  const details = error.transient ? { retry: "credential unavailable", retryable: true } as const : {};
  return new RegistryError("authentication", why, { ...details, cause: error });
}
