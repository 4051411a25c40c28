/** What {@linkcode Fetch} takes besides the web's own options. */
export interface FetchInit {
  readonly method?: string;
  readonly headers?: HeadersInit;
  /** Of at most 11.75 MiB with a server, which takes it in one message. A stream is read to its end first. */
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
 * A stock server sends as fast as it can, and cannot be told to stop: what is not read is kept here, up to 256 MiB of all
 * bodies together, above which a body fails; of one that is given up the rest comes all the same, to be dropped, until
 * `timeoutMs` has passed or the connection ends. Our server waits for those who read slowly, and stops.
 *
 * @throws {ClientError} `http` or `server`: no response could be had.
 */
export type Fetch = (input: string | URL | Request, init?: FetchInit) => Promise<Response>;
