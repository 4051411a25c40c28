import { ClientError, DISCONNECTED } from "../client/client_error.ts";

/** A failure for people. The words of a lost connection do not say why it was lost; what is known is in its causes. */
export function errorWords(error: Error): string {
  if (!(error instanceof ClientError) || error.message !== DISCONNECTED) return error.message;
  const { cause } = error;
  if (cause instanceof ClientError) return errorWords(cause);
  return typeof cause === "string" && cause !== "" ? `${DISCONNECTED}: ${cause}` : DISCONNECTED;
}
