import type { Json, JsonObject } from "../../json.ts";
import { isBearerToken } from "./bearer.ts";
import { chatGptUserId, type Claims, expirySeconds, jwtPayload } from "./jwt_payload.ts";

/** What a sign-in with ChatGPT consists of. */
export interface SignInTokens {
  readonly access: string;
  readonly refresh: string | undefined;
  readonly id: string | undefined;
  readonly accountId: string | undefined;
}

/** New ones, as a token endpoint gives them; what it leaves out stays as it is. */
export interface NewTokens {
  readonly access: string | undefined;
  readonly refresh: string | undefined;
  readonly id: string | undefined;
}

/** What `auth.json` lets us show: an API key, a sign-in, or nothing. */
export type SignInMethod =
  | { readonly kind: "api key"; readonly key: string }
  | { readonly kind: "chatgpt"; readonly tokens: SignInTokens }
  | { readonly kind: "none" };

/** `auth_mode` decides where it is set; else a key wins over a sign-in. */
export function signInMethod(file: JsonObject): SignInMethod {
  const mode = file.get("auth_mode") ?? null;
  const key = text(file.get("OPENAI_API_KEY"))?.trim();
  if (key && (mode === null || mode === "apikey")) return { kind: "api key", key };
  const tokens = mode === null || mode === "chatgpt" ? signInTokens(file) : undefined;
  return tokens === undefined ? { kind: "none" } : { kind: "chatgpt", tokens };
}

/** undefined: the file holds none that could be shown. */
export function signInTokens(file: JsonObject): SignInTokens | undefined {
  const tokens = file.get("tokens");
  if (!(tokens instanceof Map)) return undefined;
  const members: JsonObject = tokens;
  const access = text(members.get("access_token"));
  const accountId = text(members.get("account_id"));
  if (access === undefined || !isBearerToken(access)) return undefined;
  if (accountId !== undefined && !isBearerToken(accountId)) return undefined;
  return { access, refresh: text(members.get("refresh_token")), id: text(members.get("id_token")), accountId };
}

/** The file with new tokens; everything else in it stays. */
export function withNewTokens(file: JsonObject, news: NewTokens, nowMs: number): JsonObject {
  const old = file.get("tokens");
  const tokens = new Map<string, Json>(old instanceof Map ? old as JsonObject : []);
  for (const [name, value] of [["id_token", news.id], ["access_token", news.access], ["refresh_token", news.refresh]]) {
    if (value !== undefined) tokens.set(name!, value);
  }
  return new Map<string, Json>(file).set("tokens", tokens).set("last_refresh", new Date(nowMs).toISOString());
}

/** Whose sign-in it is, if the id token says so. */
export function userOf({ id }: SignInTokens): string | undefined {
  const claims = id === undefined ? undefined : jwtPayload(id);
  return claims === undefined ? undefined : chatGptUserId(claims);
}

/** Whether the account, and the user as far as we know who that is, are still the same. */
export function haveSameOwner(ours: SignInTokens, others: SignInTokens): boolean {
  const user = userOf(ours);
  return ours.accountId === others.accountId && (user === undefined || user === userOf(others));
}

export function areSame(a: SignInTokens, b: SignInTokens): boolean {
  return a.access === b.access && a.refresh === b.refresh && a.accountId === b.accountId;
}

/** How long an access token is still good, in seconds; infinite where it does not say, for it need not be a JWT. */
export function secondsLeft({ access }: SignInTokens, nowMs: number): number {
  const claims: Claims | undefined = jwtPayload(access);
  return (expirySeconds(claims) ?? Infinity) - nowMs / 1000;
}

function text(json: Json | undefined): string | undefined {
  return typeof json === "string" && json !== "" ? json : undefined;
}
