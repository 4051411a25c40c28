import { type Credential, CredentialError } from "../credential.ts";

/**
 * What the bearer token of a header may consist of: printable ASCII without spaces. Other characters would be refused by
 * the HTTP client, or change on the way.
 */
const TOKEN = /^[\x21-\x7e]+$/;

export function isBearerToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The headers of a bearer token and, if there is one, of the account that it is for. */
export function bearerHeaders(token: string, accountId?: string | null): Record<string, string> {
  return {
    "authorization": `Bearer ${token}`,
    ...(accountId === undefined || accountId === null ? {} : { "chatgpt-account-id": accountId }),
  };
}

/** For an account of the US government's own service: requests are routed by it. Measured; the name is the reference's. */
export const FEDRAMP_HEADER: Readonly<Record<string, string>> = { "x-openai-fedramp": "true" };

/** A credential that shows the same headers each time. */
export function fixedCredential(headers: Readonly<Record<string, string>>): Credential {
  return { headers: () => Promise.resolve(headers) };
}

/** The text of bytes that must be UTF-8; `complaint` says what is wrong otherwise, and never what they are. */
export function decodeText(bytes: Uint8Array, complaint: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // The cause knows nothing more than that.
    throw new CredentialError(complaint);
  }
}
