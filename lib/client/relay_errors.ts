import { CredentialError } from "../relay/credential.ts";
import { HarnessError } from "../relay/harness.ts";
import { RegistryError } from "../relay/registry/registry_error.ts";
import type { DialError } from "../relay/socket/relay_socket.ts";
import { ClientError, connectError, connectTimeout, initializeTimeout } from "./client_error.ts";
import { errorCause, statusCause } from "./dial_cause.ts";

/** Why there is no bundle, as a client reports it. What is no failure of a registry is handed back as it is. */
export function registryFailure(error: unknown): unknown {
  if (error instanceof RegistryError) {
    const { kind, message, retryable } = error;
    return new ClientError(kind === "authentication" || kind === "request" ? "registry" : kind, message, {
      cause: error,
      retryable,
    });
  }
  if (error instanceof CredentialError) {
    // What a credential of the client's own has thrown says it better.
    if (error.cause instanceof ClientError) return error.cause;
    return new ClientError("configuration", error.message, { cause: error, retryable: error.transient });
  }
  return error;
}

/** Why there is no WebSocket to the rendezvous. @param url As it may be shown. */
export function dialFailure(error: DialError, url: string, timeoutMs: number): ClientError {
  const { failure, status, rejection } = error;
  switch (failure) {
    case "upgrade timeout":
      return connectTimeout(url, timeoutMs);
    case "unusable url":
      return connectError(url, "IO error: invalid WebSocket URL", error);
    case "connection failed":
      return connectError(url, systemCause(error.cause), error);
    case "upgrade refused": {
      const cause = status === undefined ? "WebSocket protocol error: Handshake not finished" : statusCause(status);
      return connectError(url, rejection === undefined ? cause : `${cause} (${rejection})`, error);
    }
  }
}

/** The system's reason in its own words; of anything else nothing, since the other side may have written it. */
function systemCause(cause: unknown): string {
  const { code, errno } = (cause ?? {}) as { code?: unknown; errno?: unknown };
  if (typeof code !== "string" || !/^[A-Z][A-Z0-9_]*$/.test(code)) return "IO error: no connection came about";
  if (/CERT|TLS|SSL/.test(code)) return `TLS error: ${code}`;
  return errorCause({ message: code, code, errno: typeof errno === "number" ? errno : undefined });
}

/** Why the handshake did not come about. What is no failure of it is handed back as it is. */
export function harnessFailure(error: unknown, timeoutMs: number): unknown {
  if (!(error instanceof HarnessError)) return error;
  switch (error.failure) {
    case "timeout":
      return initializeTimeout(timeoutMs);
    case "executor credentials rejected":
      return new ClientError("registry", `environment registry authentication error: ${error.failure}`, {
        cause: error,
        retryable: false,
      });
    case "failed":
      return new ClientError("disconnected", "Noise harness handshake failed before connection became ready", {
        cause: error,
      });
  }
}
