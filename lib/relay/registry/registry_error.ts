import type { RetryReason } from "../events.ts";
import { MAX_SHOWN_ERROR_LENGTH } from "../limits.ts";
import { printable } from "./printable.ts";
import type { Secrets } from "./secrets.ts";
import { statusText } from "./status_text.ts";

export type RegistryErrorKind = "configuration" | "authentication" | "request" | "protocol" | "json";

/** Why a registration is tried again: nothing can have been committed. */
export type RegistrationRetry = Extract<
  RetryReason,
  "registration_conflict" | "authentication_service_unavailable" | "credential unavailable"
>;

export interface RegistryErrorDetails extends ErrorOptions {
  /** HTTP status, where there was an answer. */
  readonly status?: number;
  /** The registry's word for what is wrong. */
  readonly code?: string;
  readonly retry?: RegistrationRetry;
  readonly retryable?: boolean;
}

/** What the sentences begin with. */
const BEGINNINGS: Readonly<Record<RegistryErrorKind, string>> = {
  configuration: "environment registry configuration error: ",
  authentication: "environment registry authentication error: ",
  request: "environment registry request failed",
  protocol: "exec-server protocol error: ",
  json: "failed to serialize or deserialize exec-server JSON: ",
};

/**
 * A request to a registry that has not led to what was asked for. The message is the reference's; what it repeats of the
 * registry's answer is on one line and steers no terminal.
 */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
  readonly status: number | undefined;
  /** Only if it is a word, with nothing in it but letters, digits, `_`, `-` and `.`. */
  readonly code: string | undefined;
  /** Set: an executor registers again after a pause. Else the error is final for it. */
  readonly retry: RegistrationRetry | undefined;
  /** A harness asks again: a bundle that was handed out for nothing does no harm. */
  readonly retryable: boolean;

  /** @param sentence Behind what all errors of the kind begin with. */
  constructor(readonly kind: RegistryErrorKind, sentence: string, details: RegistryErrorDetails = {}) {
    super(`${BEGINNINGS[kind]}${sentence}`, "cause" in details ? { cause: details.cause } : undefined);
    this.status = details.status;
    this.code = details.code !== undefined && CODE.test(details.code) ? details.code : undefined;
    this.retry = details.retry;
    this.retryable = details.retryable ?? false;
  }
}

const CODE = /^[\w.-]{1,64}$/;

/** There was no answer, or not all of it. */
export function requestFailed(why: string, options?: ErrorOptions): RegistryError {
  return new RegistryError("request", `: ${why}`, { ...options, retryable: true });
}

/** What a registry said of an error, if it said something that we understand. */
export interface RegistryComplaint {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

/** How much is told of a registry's answer. */
export interface ShownAnswer {
  /** Its body; undefined: it is not told. */
  readonly body?: string;
  /** What the request was; told in place of the body where that is not. */
  readonly purpose: string;
  readonly secrets: Secrets;
}

/** The registry has answered with another status than 2xx. */
export function refused(status: number, complaint: RegistryComplaint | undefined, shown: ShownAnswer): RegistryError {
  const { code } = complaint ?? {};
  const shownCode = code === undefined ? undefined : shownText(code, shown.secrets);
  const isAuthentication = status === 401 || status === 403;
  const details = {
    status,
    ...(shownCode === undefined ? {} : { code: shownCode }),
    retryable: status >= 500 || status === 408 || status === 429 || (status === 409 && code === "environment_offline"),
  };
  if (isAuthentication) {
    const message = shown.body === undefined
      ? "response body omitted"
      : said(complaint?.message, shown, "empty error body");
    const sentence = `environment registry authentication failed (${statusText(status)}): ${message}`;
    return new RegistryError("authentication", sentence, details);
  }
  const message = shown.body === undefined
    ? `environment registry ${shown.purpose} failed`
    : said(complaint?.message, shown, "empty or malformed error body");
  const told = shownCode === undefined || shown.body === undefined ? "" : `, ${shownCode}`;
  const retry = registrationRetry(status, code);
  return new RegistryError("request", ` (${statusText(status)}${told}): ${message}`, {
    ...details,
    ...(retry === undefined ? {} : { retry }),
  });
}

function registrationRetry(status: number, code: string | undefined): RegistrationRetry | undefined {
  if (status === 503 && code === "registration_conflict") return code;
  if (status === 502 && code === "authentication_service_unavailable") return code;
  return undefined;
}

function said(message: string | undefined, shown: ShownAnswer, nothing: string): string {
  return shownText(message ?? ((shown.body ?? "").trim() || nothing), shown.secrets);
}

/** What a registry said, as far as it is shown. */
export function shownText(text: string, secrets: Secrets): string {
  return printable(secrets.hide(text), MAX_SHOWN_ERROR_LENGTH);
}
