/** One request, as it leaves. */
export interface SignedRequest {
  readonly method: "GET" | "POST";
  /** With a scheme of `http`, `https`, `ws` or `wss`; path and query exactly as they are sent. */
  readonly url: string;
  /** Names in lower case; without `host`, which the URL says, and without those that the signature adds. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for an upgrade. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Shows who makes a request by a signature over it: the direct transport's, for the registry and for the upgrade. */
export interface RequestSigner {
  /**
   * The headers that are added, made anew for each request.
   *
   * @throws {CredentialError} There is nothing to sign with.
   */
  sign(request: SignedRequest, signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
}

/** How requests to a registry show who makes them. */
export interface Credential {
  /**
   * The headers of one request, made anew for each.
   *
   * @throws {CredentialError} There is nothing to show, now or for good.
   */
  headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /**
   * The registry has answered 401 to `refused`, the headers that were shown. True: other headers can be had now, and one
   * more request is worth it.
   */
  renew?(refused: Readonly<Record<string, string>>, signal: AbortSignal): Promise<boolean>;
  /**
   * The bodies of a registry's answers are not told in errors, since they might repeat the credential, and off this machine
   * the registry must be `https://`. So it is with what the reference takes from standard input: bearer line and executor
   * credential.
   */
  readonly hidesErrorBodies?: boolean;
}

/**
 * What is wrong with headers that somebody's function gave, without what they say: the platform's own words repeat it.
 *
 * @returns Nothing if they can be sent.
 */
export function headersDefect(headers: unknown): string | undefined {
  if (typeof headers !== "object" || headers === null) return "there are no headers";
  for (const [name, value] of Object.entries(headers)) {
    const shown = `the header ${JSON.stringify(name)} cannot be sent`;
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return shown;
    if (typeof value !== "string" || !/^[\t -~\x80-\xff]*$/.test(value)) return `the value of ${shown}`;
  }
  return undefined;
}

/** No credential. The message never contains one. */
export class CredentialError extends Error {
  override readonly name = "CredentialError";

  /** @param transient Whether another attempt may succeed; then a registration waits and tries again. */
  constructor(message: string, readonly transient: boolean = false, options?: ErrorOptions) {
    super(message, options);
  }
}
