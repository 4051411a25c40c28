import type { Dial } from "../relay/socket/relay_socket.ts";
import type { Token } from "./token_text.ts";

export interface RelayCarrierOptions {
  /** The registry's base URL; a path in it is kept. `https:`, or on this machine `http:`. */
  readonly registry: string | URL;
  /** Which of the registry's environments; blanks around it do not count. */
  readonly environmentId: string;
  /** Shown to the registry as `authorization: Bearer …`. A function is asked before every request; `tokenFile` makes one. */
  readonly token?: Token;
  /** Shown to the registry as `chatgpt-account-id`. */
  readonly accountId?: string;
  /** Further headers for the registry. A function is asked before every request. */
  readonly headers?: RegistryHeaders | (() => RegistryHeaders | Promise<RegistryHeaders>);
  /** In place of the platform's `fetch`, for requests to the registry: where there is a proxy, or a client certificate. */
  readonly fetch?: typeof fetch;
  /** In place of npm `ws`, for the connection to the rendezvous. */
  readonly dial?: Dial;
  /** For TCP, TLS and the upgrade of the rendezvous together; 10 s. */
  readonly connectTimeoutMs?: number;
}

export type RegistryHeaders = Readonly<Record<string, string>>;
