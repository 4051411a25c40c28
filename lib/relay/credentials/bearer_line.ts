import { type Credential, CredentialError } from "../credential.ts";
import { bearerHeaders, decodeText, fixedCredential, isBearerToken } from "./bearer.ts";
import { MAX_BEARER_BYTES } from "./limits.ts";
import type { Line, StdinLines } from "./stdin_lines.ts";

const INVALID = "invalid registration bearer";

/**
 * `--registration-bearer-stdin`: the first line of standard input is the token. Waits for it without limit; what
 * comes after it is left unread. As with the reference the token crosses networks by https only, and bodies of the
 * registry's errors are not shown.
 *
 * @throws {CredentialError} There is no such line.
 */
export async function bearerLine(lines: StdinLines): Promise<Credential> {
  const headers = bearerHeaders(registrationBearer(await lines.next(MAX_BEARER_BYTES)));
  return { ...fixedCredential(headers), hidesErrorBodies: true };
}

/** @throws {CredentialError} The line is not a token and nothing else. */
function registrationBearer(line: Line): string {
  if (line.kind !== "line") {
    throw new CredentialError("expected a newline-terminated registration bearer of at most 16 KiB");
  }
  const token = decodeText(line.bytes, INVALID).replace(/\r$/, "");
  if (!isBearerToken(token)) throw new CredentialError(INVALID);
  return token;
}
