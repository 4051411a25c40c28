import { CredentialError } from "../credential.ts";
import { isBearerToken } from "./bearer.ts";
import { exchange, ExchangeFailed, type Network } from "./http_exchange.ts";
import { asObject, type Claims, parseObject, textMember } from "./jwt_payload.ts";
import { REFRESH_TIMEOUT_MS } from "./limits.ts";
import type { NewTokens } from "./sign_in_tokens.ts";

/** Where ChatGPT's sign-ins are refreshed, and as whom: public, the same in every installation of the reference. */
export const TOKEN_ENDPOINT = "https://auth.openai.com/oauth/token";
const CLIENT_ID = "app_EMoamEEZ73f0CkXaXp7hrann";

export type RefreshReason = "proactive_expiry" | "forced";

/** Somebody has given the refresh token away already: most likely another program that shares the sign-in. */
export class RefreshTokenUsed extends CredentialError {}

const USED = "refresh_token_reused";

/** What the endpoint says of a refresh token that it will never take again, and how the reference tells its user. */
const LOST = new Map([
  ["refresh_token_expired", " because your refresh token has expired"],
  [USED, " because your refresh token was already used"],
  ["refresh_token_invalidated", " because your refresh token was revoked"],
]);

/**
 * Gives a refresh token away for new tokens.
 *
 * @throws {CredentialError} There are none. Transient unless the endpoint refused or made no sense. A
 *   {@linkcode RefreshTokenUsed} where it says so.
 */
export async function refreshTokens(
  network: Network,
  endpoint: string,
  refreshToken: string,
  reason: RefreshReason,
): Promise<NewTokens> {
  const { status, bytes } = await post(network, endpoint, {
    client_id: CLIENT_ID,
    grant_type: "refresh_token",
    refresh_reason: reason,
    refresh_token: refreshToken,
  });
  const answer = parseObject(bytes);
  if (status < 200 || status > 299) throw refused(status, answer);
  if (answer === undefined) throw new CredentialError("the token endpoint's answer is not a JSON object");
  const news = {
    access: textMember(answer, "access_token"),
    refresh: textMember(answer, "refresh_token"),
    id: textMember(answer, "id_token"),
  };
  if (news.access !== undefined && !isBearerToken(news.access)) {
    throw new CredentialError("the token endpoint's answer holds an access_token that an HTTP header cannot carry");
  }
  return news;
}

async function post(network: Network, endpoint: string, body: Readonly<Record<string, string>>) {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json", "accept": "*/*" },
    body: JSON.stringify(body),
  };
  try {
    return await exchange(network, endpoint, init, REFRESH_TIMEOUT_MS);
  } catch (error) {
    if (!(error instanceof ExchangeFailed)) throw error;
    throw new CredentialError(`failed to refresh the ChatGPT token: ${error.message}`, true, { cause: error });
  }
}

/** Nothing of what the endpoint said is repeated but one of the codes that we know. */
function refused(status: number, answer: Claims | undefined): CredentialError {
  const isPassing = status >= 500 || status === 408 || status === 425 || status === 429;
  if (isPassing || status < 400) {
    return new CredentialError(`failed to refresh the ChatGPT token: status ${status}`, isPassing);
  }
  const code = errorCode(answer);
  const why = (code === undefined ? undefined : LOST.get(code)) ?? "";
  const Failure = code === USED ? RefreshTokenUsed : CredentialError;
  return new Failure(`your access token could not be refreshed${why}; log out and sign in again`);
}

/** `{"error": {"code"}}`, `{"error": code}` or `{"code"}`. */
function errorCode(answer: Claims | undefined): string | undefined {
  if (answer === undefined) return undefined;
  const nested = Object.hasOwn(answer, "error") ? asObject(answer["error"]) : undefined;
  return textMember(nested, "code") ?? textMember(answer, "error") ?? textMember(answer, "code");
}
