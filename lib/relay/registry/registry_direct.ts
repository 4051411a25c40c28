import type { Clock } from "../../clock.ts";
import type { RequestSigner } from "../credential.ts";
import { CredentialError } from "../credential.ts";
import { abortable } from "../../abortable.ts";
import { environmentUrl, requireSecure } from "./environment_url.ts";
import { REGISTER_TIMEOUT_MS } from "../limits.ts";
import { RegistryError, shownText } from "./registry_error.ts";
import { withoutCredential } from "./registry_exchange.ts";
import { type Fetch, RegistryHttp } from "./registry_http.ts";
import { readSuccess } from "./registry_result.ts";
import { Secrets } from "./secrets.ts";

export interface DirectRegistryOptions {
  /** The registry's base URL: `https://`, on this machine also `http://`. */
  readonly url: string;
  readonly environmentId: string;
  readonly signer: RequestSigner;
  /** In place of the platform's `fetch`. It is asked not to follow redirects. */
  readonly fetch?: Fetch;
  readonly clock?: Clock;
}

/** Where an executor of the direct transport connects to. */
export interface DirectRegistration {
  readonly registrationId: string;
  /** `wss://`, on this machine also `ws://`. A secret. */
  readonly url: string;
}

const TRANSPORT = "direct_jsonrpc_v1";
const DIRECT_REGISTRATION = {
  title: "DirectRegistrationResponse",
  purpose: "executor registration",
  texts: ["environment_id", "transport", "registration_id", "url"],
} as const;

/** A registry as seen by an executor that is reached without a relay. */
export class DirectRegistry {
  /** Without white space around it. */
  readonly environmentId: string;
  readonly #url: string;
  readonly #signer: RequestSigner;
  readonly #http: RegistryHttp;

  /** @throws {RegistryError} `configuration`. Nothing is requested. */
  constructor({ url, environmentId, signer, fetch, clock }: DirectRegistryOptions) {
    const place = environmentUrl(url, environmentId);
    [this.environmentId, this.#url, this.#signer] = [place.environmentId, place.of("direct/register"), signer];
    requireSecure(this.#url, "https");
    this.#http = new RegistryHttp(place, fetch, clock);
  }

  /** @throws {RegistryError} Always final. Or the signal's reason. */
  async register(signal: AbortSignal): Promise<DirectRegistration> {
    const { answer, secrets } = readSuccess(await this.#ask(signal), { ...DIRECT_REGISTRATION, hidesBody: false });
    if (answer.environment_id !== this.environmentId) {
      throw new RegistryError("protocol", "environment registry returned a different environment id");
    }
    if (answer.transport !== TRANSPORT) {
      const transport = shownText(answer.transport, secrets);
      throw new RegistryError(
        "protocol",
        `environment registry returned unsupported direct transport \`${transport}\``,
      );
    }
    const { url, registration_id: registrationId } = answer;
    if (url.trim() === "" || registrationId.trim() === "") {
      throw new RegistryError("protocol", "environment registry returned incomplete direct connection data");
    }
    requireSecure(url, "wss");
    return { registrationId, url };
  }

  async #ask(signal: AbortSignal) {
    const body = new TextEncoder().encode(JSON.stringify({ transport: TRANSPORT }));
    const signed = { "content-type": "application/json" };
    const headers = await this.#sign({ method: "POST", url: this.#url, headers: signed, body }, signal);
    const answer = await this.#http.post({
      action: "direct/register",
      body,
      headers,
      signal,
      timeoutMs: REGISTER_TIMEOUT_MS,
      wantsBody: () => true,
    });
    return { ...answer, secrets: new Secrets(headers) };
  }

  async #sign(...[request, signal]: Parameters<RequestSigner["sign"]>): Promise<Readonly<Record<string, string>>> {
    try {
      return await abortable(this.#signer.sign(request, signal), signal);
    } catch (error) {
      throw error instanceof CredentialError ? withoutCredential(error) : error;
    }
  }
}
