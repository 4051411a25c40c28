/** A registry that says what a test wants, and what the reference asked it. */

import type { Credential } from "../../lib/relay/credential.ts";
import { decodePublicKeys } from "../../lib/relay/noise/public_key_json.ts";
import { Registry, type RegistryOptions } from "../../lib/relay/registry/registry.ts";
import type { Fetch } from "../../lib/relay/registry/registry_http.ts";
import { loadVectors } from "./vectors/load.ts";

export interface RecordedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: [string, string][];
  readonly body: Record<string, unknown>;
}
export const executor = loadVectors<{ registry: { register: RecordedRequest; validate: RecordedRequest[] } }>(
  "real-executor-session.json",
).registry;
export const harness = loadVectors<{ registry: { connect: RecordedRequest } }>("real-harness-session.json").registry;

export const signal = new AbortController().signal;
export const KEYS = decodePublicKeys(executor.register.body["executor_public_key"]);
export const HARNESS_KEYS = decodePublicKeys(executor.validate[0]!.body["harness_public_key"]);
export const API_KEY: Credential = { headers: () => Promise.resolve({ authorization: "Bearer test-api-key" }) };
export const BEARER: Credential = { ...API_KEY, hidesErrorBodies: true };

export interface Requested {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

/** A registry that gives these answers, one after the other, and the requests that it got. */
export function registryOf(answers: (Response | Error)[], options: Partial<RegistryOptions> = {}) {
  const requests: Requested[] = [];
  const fetch: Fetch = (url, { headers, body }) => {
    const json = JSON.parse(new TextDecoder().decode(body as Uint8Array<ArrayBuffer>));
    requests.push({ url, headers: headers as Record<string, string>, body: json });
    const answer = answers.shift();
    return answer instanceof Response
      ? Promise.resolve(answer)
      : Promise.reject(answer ?? new Error("one request too many"));
  };
  const registry = new Registry({
    url: "http://127.0.0.1:1/",
    environmentId: "env-vector",
    credential: API_KEY,
    fetch,
    ...options,
  });
  return { registry, requests };
}

export const REGISTERED = {
  environment_id: "env-vector",
  url: "ws://127.0.0.1:1/rdv?sig=x",
  security_profile: "noise_hybrid_ik_v1",
  executor_registration_id: "reg-1",
};
export const CONNECTED = {
  ...REGISTERED,
  executor_public_key: executor.register.body["executor_public_key"],
  harness_key_authorization: "authorization-1",
};

export function answered(body: unknown, status = 200): Response {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Response(text === "" ? null : text, { status });
}
