import type { Clock } from "../../clock.ts";
import { type Json, plainJson } from "../../json.ts";
import type { Credential } from "../credential.ts";
import { environmentUrl, requireSecure } from "./environment_url.ts";
import type { PublicKeys } from "../noise/keys.ts";
import { CONNECT_REQUEST_TIMEOUT_MS, REGISTER_TIMEOUT_MS, VALIDATE_TIMEOUT_MS } from "../limits.ts";
import { decodePublicKeys, encodePublicKeys, PublicKeyError } from "../noise/public_key_json.ts";
import { isAuthorized } from "./registry_answer.ts";
import { RegistryError, shownText } from "./registry_error.ts";
import { RegistryExchange } from "./registry_exchange.ts";
import { type Fetch, RegistryHttp } from "./registry_http.ts";
import { isSuccess } from "./registry_result.ts";
import type { Secrets } from "./secrets.ts";
import type { ValidationRequest, Verdict } from "../executor/stream_host.ts";
import { uuidOf } from "./uuid.ts";
import { websocketTarget } from "../socket/websocket_target.ts";

export interface RegistryOptions {
  /** The registry's base URL. */
  readonly url: string;
  readonly environmentId: string;
  readonly credential: Credential;
  /** In place of the platform's `fetch`. It is asked not to follow redirects. */
  readonly fetch?: Fetch;
  readonly clock?: Clock;
}

/** Where an executor is reached. */
export interface Registration {
  readonly registrationId: string;
  /** Of the rendezvous. A secret: whoever has it can connect. */
  readonly url: string;
}

/** What a harness needs for one connection to an executor. */
export interface HarnessBundle extends Registration {
  readonly executor: PublicKeys;
  /** For the executor, which asks the registry about it. A secret. */
  readonly authorization: string;
}

const SECURITY_PROFILE = "noise_hybrid_ik_v1";
const UNAUTHORIZED = 401;
const REGISTRATION = {
  title: "EnvironmentRegistryRegistrationResponse",
  purpose: "executor registration",
  texts: ["environment_id", "url", "security_profile", "executor_registration_id"],
} as const;
const CONNECTION = {
  title: "EnvironmentRegistryConnectResponse",
  purpose: "connection lookup",
  texts: ["environment_id", "url", "security_profile", "executor_registration_id", "harness_key_authorization"],
  others: ["executor_public_key"],
} as const;

/** The service that knows who may talk to whom, as seen by an executor or a harness of one environment. */
export class Registry {
  /** Without white space around it. */
  readonly environmentId: string;
  readonly #exchange: RegistryExchange;

  /** @throws {RegistryError} `configuration`. Nothing is requested. */
  constructor({ url, environmentId, credential, fetch, clock }: RegistryOptions) {
    const place = environmentUrl(url, environmentId);
    // What must not even be repeated in an error must not cross a network in the clear. Source: the reference.
    if (credential.hidesErrorBodies) requireSecure(place.of("register"), "https");
    this.environmentId = place.environmentId;
    this.#exchange = new RegistryExchange(new RegistryHttp(place, fetch, clock), credential);
  }

  /**
   * Tells the registry of an executor. What there was before of the environment's registration ends.
   *
   * @throws {RegistryError} With `retry` where it is certain that nothing has changed. Or the signal's reason.
   */
  async register(keys: PublicKeys, signal: AbortSignal): Promise<Registration> {
    const body = { security_profile: SECURITY_PROFILE, executor_public_key: encodePublicKeys(keys) };
    const question = { body, signal, timeoutMs: REGISTER_TIMEOUT_MS };
    const { answer, secrets } = await this.#exchange.ask("register", question, REGISTRATION);
    this.#check(answer, secrets);
    const { url, executor_registration_id: registrationId } = answer;
    if (registrationId.trim() === "") throw unusable("environment registry returned a blank executor registration id");
    checkUrl(url);
    return { registrationId, url };
  }

  /**
   * Asks whether a harness may use a registration. No verdict is remembered.
   *
   * @throws {CredentialError} Nothing was asked.
   * @throws {RegistryError} There is no answer. Nothing of what was sent is in the message. Or the signal's reason.
   */
  async validate(registrationId: string, request: ValidationRequest, signal: AbortSignal): Promise<Verdict> {
    const uuid = uuidOf(request.streamId);
    const question = {
      body: {
        executor_registration_id: registrationId,
        harness_public_key: encodePublicKeys(request.harness),
        harness_key_authorization: request.authorization,
      },
      headers: uuid === undefined ? {} : { "x-codex-noise-stream-id": uuid },
      signal,
      timeoutMs: VALIDATE_TIMEOUT_MS,
    };
    // Of other answers nothing but the status counts: the rest could repeat the authorization.
    const { status, body, defect } = await this.#exchange.send("validate", question, isSuccess);
    if (status === UNAUTHORIZED) return "credentialsRejected";
    return isSuccess(status) && defect === undefined && isAuthorized(body) ? "valid" : "denied";
  }

  /**
   * Asks for what a harness needs for its next connection.
   *
   * @param options.timeoutMs For one request, of which there are two where the credential is renewed.
   * @throws {RegistryError} With `retryable` where asking again may help. Or the signal's reason.
   */
  async connect(
    harness: PublicKeys,
    { signal, timeoutMs = CONNECT_REQUEST_TIMEOUT_MS }: { readonly signal: AbortSignal; readonly timeoutMs?: number },
  ): Promise<HarnessBundle> {
    const body = { harness_public_key: encodePublicKeys(harness) };
    const { answer, secrets } = await this.#exchange.ask("connect", { body, signal, timeoutMs }, CONNECTION);
    this.#check(answer, secrets);
    const { url, executor_registration_id: registrationId, harness_key_authorization: authorization } = answer;
    if ([url, registrationId, authorization].some((text) => text.trim() === "")) {
      throw unusable("environment registry returned incomplete Noise connection data");
    }
    checkUrl(url);
    return { url, registrationId, authorization, executor: decodeKeys(answer.executor_public_key) };
  }

  #check(answer: { readonly environment_id: string; readonly security_profile: string }, secrets: Secrets): void {
    if (answer.environment_id !== this.environmentId) {
      throw unusable("environment registry returned a different environment id");
    }
    if (answer.security_profile !== SECURITY_PROFILE) {
      const profile = shownText(answer.security_profile, secrets);
      throw unusable(`environment registry returned unsupported security profile \`${profile}\``);
    }
  }
}

/** @throws {RegistryError} Dialling it again and again would not help. */
function checkUrl(url: string): void {
  if (websocketTarget(url) === undefined) throw unusable("environment registry returned an unusable rendezvous URL");
}

function decodeKeys(json: Json): PublicKeys {
  try {
    return decodePublicKeys(plainJson(json));
  } catch (error) {
    throw error instanceof PublicKeyError ? unusable(error.message) : error;
  }
}

function unusable(why: string): RegistryError {
  return new RegistryError("protocol", why);
}
