import { ClientError } from "./client_error.ts";

/** A token, or who is asked for it before every attempt, since it may expire. */
export type Token = string | (() => string | Promise<string>);

/**
 * The token of one attempt.
 *
 * @param prefix What the error's text begins with.
 * @throws {ClientError} `configuration`, if there is none; or what the function throws, if that is one.
 */
export async function tokenText(token: Token, prefix: string): Promise<string> {
  if (typeof token === "string") return token;
  try {
    const text: unknown = await token();
    // Without types a variable that is not set comes this far, and "undefined" is a token to a server.
    if (typeof text !== "string") throw new TypeError(`it is ${text === null ? "null" : typeof text}, not a text`);
    return text;
  } catch (error) {
    if (error instanceof ClientError) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    // Whoever replaces a token may be caught in between.
    throw new ClientError("configuration", `${prefix}: cannot get the token: ${detail}`, {
      cause: error,
      retryable: true,
    });
  }
}
