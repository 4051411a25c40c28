import { type Credential, CredentialError } from "../credential.ts";
import { bearerHeaders, decodeText, fixedCredential, isBearerToken } from "./bearer.ts";
import { MAX_BEARER_BYTES } from "./limits.ts";
import type { Line, StdinLines } from "./stdin_lines.ts";

const INVALID = "invalid registration bearer";

/**
 * `--registration-bearer-stdin`: the first line of standard input is the token. Waits for it without limit; what
 * comes after it is left unread.
 *
 * @throws {CredentialError} There is no such line.
 */
export async function bearerLine(lines: StdinLines): Promise<Credential> {
  return fixedCredential(bearerHeaders(registrationBearer(await lines.next(MAX_BEARER_BYTES))));
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
