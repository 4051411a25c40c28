/**
 * Why an exchange with an HTTP peer did not come to its end. The message is for the caller of the request; it names at
 * most the URL, without user and password. What exactly went wrong is the `cause`, which stays on this machine.
 */
export class HttpFailure extends Error {
  override readonly name = "HttpFailure";

  /** @param stage `body`: the status and the headers have come, and the rest has not. */
  constructor(readonly stage: "request" | "body", message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** No response came: no address, no connection, no TLS, nothing or nonsense instead of an answer, or too late. */
export function sendFailure(url: URL, cause: unknown): HttpFailure {
  return new HttpFailure("request", `error sending request for url (${withoutUser(url)})`, { cause });
}

/** The body was cut short, came too late, or is not what its headers say. */
export function bodyFailure(cause: unknown): HttpFailure {
  return new HttpFailure("body", "error decoding response body", { cause });
}

/** The peer says something that is not HTTP. The message is for a log. */
export class MalformedResponse extends Error {
  override readonly name = "MalformedResponse";
}

function withoutUser(url: URL): string {
  if (url.username === "" && url.password === "") return url.href;
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  return bare.href;
}
