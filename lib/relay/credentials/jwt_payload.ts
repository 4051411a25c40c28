/** Members of a JSON object from outside; `Object.hasOwn` tells what is there. */
export type Claims = Readonly<Record<string, unknown>>;

/** Where ChatGPT's tokens say whose they are. */
const AUTH_CLAIM = "https://api.openai.com/auth";

/**
 * The claims of a compact JWT, of whose signature nothing is known.
 *
 * @returns undefined If it is no JWT.
 */
export function jwtPayload(token: string): Claims | undefined {
  const [header, payload, signature, ...more] = token.split(".");
  if (!header || !payload || !signature || more.length > 0) return undefined;
  const bytes = fromBase64Url(payload);
  return bytes === undefined ? undefined : parseObject(bytes);
}

/** Base64url without padding. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]*$/.test(text)) return undefined;
  try {
    return Uint8Array.fromBase64(text, { alphabet: "base64url" });
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** undefined: not UTF-8, not JSON, or not an object. */
export function parseObject(bytes: Uint8Array): Claims | undefined {
  try {
    const json: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return asObject(json);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

export function asObject(json: unknown): Claims | undefined {
  return typeof json === "object" && json !== null && !Array.isArray(json) ? json as Claims : undefined;
}

/** A member that is a text and not empty. */
export function textMember(object: Claims | undefined, name: string): string | undefined {
  const value = object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The account of a ChatGPT token, if the token names one. */
export function chatGptAccountId(claims: Claims): string | undefined {
  const auth = Object.hasOwn(claims, AUTH_CLAIM) ? asObject(claims[AUTH_CLAIM]) : undefined;
  return textMember(auth, "chatgpt_account_id");
}

/** Whom an id token of ChatGPT is about, under the one name or the other; seen. */
export function chatGptUserId(claims: Claims): string | undefined {
  const auth = Object.hasOwn(claims, AUTH_CLAIM) ? asObject(claims[AUTH_CLAIM]) : undefined;
  return textMember(auth, "chatgpt_user_id") ?? textMember(auth, "user_id");
}

/** Whether a ChatGPT token is for an account of the US government's own service; only one that names its account is. */
export function isFedRamp(claims: Claims): boolean {
  const auth = Object.hasOwn(claims, AUTH_CLAIM) ? asObject(claims[AUTH_CLAIM]) : undefined;
  return chatGptAccountId(claims) !== undefined && flagMember(auth, "chatgpt_account_is_fedramp");
}

export function flagMember(object: Claims | undefined, name: string): boolean {
  return object !== undefined && Object.hasOwn(object, name) && object[name] === true;
}

/** When a token expires, in seconds since 1970; undefined: it does not say. */
export function expirySeconds(claims: Claims | undefined): number | undefined {
  const exp = claims !== undefined && Object.hasOwn(claims, "exp") ? claims["exp"] : undefined;
  return typeof exp === "number" ? exp : undefined;
}
