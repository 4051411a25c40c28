/** What {@linkcode Fetch} takes besides the web's own options. */
export interface FetchInit {
  readonly method?: string;
  readonly headers?: HeadersInit;
  readonly body?:
    | string
    | Uint8Array
    | ArrayBuffer
    | Blob
    | URLSearchParams
    | FormData
    | ReadableStream<Uint8Array>
    | null;
  /** `follow` (default), or `manual`: the redirect itself is the answer. `error` rejects on one. */
  readonly redirect?: "follow" | "manual" | "error";
  readonly signal?: AbortSignal | null;
  /** For the whole exchange, in milliseconds. */
  readonly timeoutMs?: number;
  /** Header → variable of the server's environment whose content is appended to the value (a capability). */
  readonly headersFromEnv?: Readonly<Record<string, string>>;
}

/**
 * Sends one HTTP request from the environment's machine. As the web's `fetch`: resolves with the head, the body streams.
 *
 * A server cannot be told to stop: of a body that is given up it sends the rest all the same, to be dropped here, until
 * `timeoutMs` has passed or the connection ends.
 *
 * @throws {ClientError} `http` or `server`: no response could be had.
 */
export type Fetch = (input: string | URL | Request, init?: FetchInit) => Promise<Response>;
