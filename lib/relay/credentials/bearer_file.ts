import { type Credential, CredentialError } from "../credential.ts";
import { bearerHeaders, decodeText, isBearerToken } from "./bearer.ts";
import { MAX_BEARER_BYTES } from "./limits.ts";
import { readSmallFile, UnusableFile } from "./small_file.ts";

/** Group or others may read or write. */
const SHARED_BITS = 0o066;
/** The token and the end of its line. */
const MAX_FILE_BYTES = MAX_BEARER_BYTES + 2;

/**
 * `--registration-bearer-file FILE`: the file holds a token and nothing else but, if it likes, the end of the line. It is
 * read again for each request, so that a token can be replaced; it is put there best by renaming.
 *
 * Refused where group or others may read or write the file, by the mode of the file that links lead to; access control
 * lists are not looked at. On Windows, which has no such modes, who may read it is the operator's care alone.
 *
 * @throws {CredentialError} The file is no good now. Later its absence counts as passing.
 */
export async function bearerFile(path: string): Promise<Credential> {
  try {
    await readToken(path);
  } catch (error) {
    // At the start nobody is there to wait for.
    throw error instanceof CredentialError ? new CredentialError(error.message, false, { cause: error.cause }) : error;
  }
  return {
    headers: async () => bearerHeaders(await readToken(path)),
    renew: async (refused) => bearerHeaders(await readToken(path))["authorization"] !== refused["authorization"],
    // As for the same token on standard input.
    hidesErrorBodies: true,
  };
}

async function readToken(path: string): Promise<string> {
  const unusable = (why: string, transient = false, cause?: unknown): CredentialError =>
    new CredentialError(`cannot use the registration bearer file ${path}: ${why}`, transient, { cause });
  let file;
  try {
    file = await readSmallFile(path, MAX_FILE_BYTES);
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error;
    throw unusable(error.message, error.missing, error.cause);
  }
  if (file.mode !== null && (file.mode & SHARED_BITS) !== 0) {
    const mode = file.mode.toString(8).padStart(4, "0");
    throw unusable(`others than its owner may read or write it (mode ${mode}); make it 0600`);
  }
  const what = `it does not hold one token of at most ${MAX_BEARER_BYTES} printable ASCII characters and nothing else`;
  const token = decodeText(file.bytes, unusable(what).message).replace(/\r?\n$/, "");
  if (token.length > MAX_BEARER_BYTES || !isBearerToken(token)) throw unusable(what);
  return token;
}
