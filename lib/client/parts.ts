import type { Log } from "../log.ts";
import type { ClientError } from "./client_error.ts";
import type { ClientPart, ServerEvent } from "./client_part.ts";
import type { ServerConnection } from "./server_connection.ts";
import type { Telemetry } from "./telemetry.ts";

/** Tells every part of a client the same, in the order in which they were added. */
export class Parts {
  readonly #telemetry: Telemetry;
  readonly #log: Log;
  readonly #parts: ClientPart[] = [];

  constructor(telemetry: Telemetry, log: Log) {
    this.#telemetry = telemetry;
    this.#log = log;
  }

  add(part: ClientPart): void {
    this.#parts.push(part);
  }

  /** @throws {ClientError} What a part finds wrong with it. */
  notification(event: ServerEvent, connection: ServerConnection): void {
    const span = isLast(event)
      ? this.#telemetry.startSpan?.({
        name: "codex.exec_server.notification",
        kind: "server",
        attributes: { "rpc.system": "jsonrpc", "rpc.method": event.method },
        parent: undefined,
      })
      : undefined;
    let result = "error";
    try {
      for (const part of this.#parts) part.notification?.(event, connection);
      result = "success";
    } finally {
      span?.end({ result });
    }
  }

  disconnected(error: ClientError): void {
    this.#tell((part) => part.disconnected?.(error));
  }

  attaching(): void {
    this.#tell((part) => part.attaching?.());
  }

  async settled(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.settled?.()));
  }

  async replay(connection: ServerConnection, signal: AbortSignal): Promise<void> {
    for (const part of this.#parts) await part.replay?.(connection, signal);
  }

  failed(error: ClientError): void {
    this.#tell((part) => part.failed?.(error));
  }

  /** A defect of one part must not keep the others, or the recovery, from knowing. */
  #tell(act: (part: ClientPart) => void): void {
    for (const part of this.#parts) {
      try {
        act(part);
      } catch (error) {
        this.#log.error("a part of the client failed", { error: error instanceof Error ? error.stack : String(error) });
      }
    }
  }
}

/** Of what a server tells, telemetry hears of the ends alone. */
function isLast(event: ServerEvent): boolean {
  switch (event.method) {
    case "process/exited":
    case "process/closed":
      return true;
    case "http/request/bodyDelta":
      return event.params.done || event.params.error !== null;
    default:
      return false;
  }
}
