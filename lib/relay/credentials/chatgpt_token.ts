import { type Credential, CredentialError } from "../credential.ts";
import { bearerHeaders, decodeText, fixedCredential, isBearerToken } from "./bearer.ts";
import { chatGptAccountId, jwtPayload } from "./jwt_payload.ts";
import { MAX_CHATGPT_TOKEN_BYTES } from "./limits.ts";
import type { StdinLines } from "./stdin_lines.ts";

const INVALID = "invalid ChatGPT access token";

/**
 * `--chatgpt-token-stdin`: the first line of standard input is an access token of ChatGPT. Nobody looks at its
 * signature or when it expires; that is the registry's business.
 *
 * @param accountId `--chatgpt-account-id`.
 * @throws {CredentialError} There is no such line, the registry's URL is not fit for it, or the account is in doubt.
 */
export async function chatGptToken(
  lines: StdinLines,
  registryUrl: string,
  accountId: string | undefined,
): Promise<Credential> {
  requireSafeUrl(registryUrl);
  const line = await lines.next(MAX_CHATGPT_TOKEN_BYTES);
  if (line.kind !== "line") {
    throw new CredentialError("expected a bounded, newline-terminated ChatGPT access token");
  }
  const token = decodeText(line.bytes, INVALID).replace(/\r$/, "");
  const claims = isBearerToken(token) ? jwtPayload(token) : undefined;
  if (claims === undefined) throw new CredentialError(INVALID);
  return fixedCredential(bearerHeaders(token, requireAccountId(chatGptAccountId(claims), accountId)));
}

function requireSafeUrl(registryUrl: string): void {
  const url = URL.parse(registryUrl);
  if (url?.protocol !== "https:" || url.username !== "" || url.password !== "" || registryUrl.includes("#")) {
    throw new CredentialError("ChatGPT token registry URLs must use HTTPS without userinfo or fragments");
  }
}

function requireAccountId(ofToken: string | undefined, ofFlag: string | undefined): string {
  if (ofFlag !== undefined && ofToken !== undefined && ofFlag !== ofToken) {
    throw new CredentialError("--chatgpt-account-id does not match the token");
  }
  const accountId = ofToken ?? ofFlag;
  if (accountId === undefined) {
    throw new CredentialError("token has no ChatGPT account ID; supply --chatgpt-account-id");
  }
  if (!isBearerToken(accountId)) {
    throw new CredentialError("the ChatGPT account ID holds characters that an HTTP header cannot carry");
  }
  return accountId;
}
