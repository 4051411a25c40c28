/**
 * Where this is set the platform listens there instead of where it is told to, or there as well: on every interface, say,
 * when a container has it for the sake of another program, although we were told to listen on this machine alone.
 */
const VARIABLE = "DENO_SERVE_ADDRESS";

/** @param serve Begins to listen; the variable is looked at before it returns, and then is again what it was. */
export function withoutServeAddress<T>(serve: () => T): T {
  const value = Deno.env.get(VARIABLE);
  if (value === undefined) return serve();
  Deno.env.delete(VARIABLE);
  try {
    return serve();
  } finally {
    Deno.env.set(VARIABLE, value);
  }
}
