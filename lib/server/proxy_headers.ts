/**
 * Where this is "1" the platform takes a header of the request, `x-deno-client-address`, for the peer's address. So
 * whoever reaches the port would choose what the log calls him, and end the process with what is no address. The
 * platform looks once, when the first request of the process arrives.
 */
const VARIABLE = "DENO_TRUST_PROXY_HEADERS";

/** What the variable was, for as long as it is not to be seen. */
let hidden: string | undefined;

/** To be called before the platform begins to serve. */
export function distrustProxyHeaders(): void {
  const value = Deno.env.get(VARIABLE);
  if (value === undefined) return;
  hidden = value;
  Deno.env.delete(VARIABLE);
}

/** To be called when a request has arrived: the variable is the user's, and his programs' to inherit. */
export function proxyHeadersSettled(): void {
  if (hidden === undefined) return;
  Deno.env.set(VARIABLE, hidden);
  hidden = undefined;
}
