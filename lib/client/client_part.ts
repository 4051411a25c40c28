import type { ClientError } from "./client_error.ts";
import type { ServerConnection } from "./server_connection.ts";
import type { ServerEvent } from "./server_event.ts";

export type { ServerEvent };

/**
 * What a logical client keeps besides its connection (processes, bodies of HTTP responses, network decisions), told
 * of the connection's messages and of its fate. All parts hear everything, in the order in which they were registered.
 */
export interface ClientPart {
  /**
   * A notification, from the current connection or from one that is being resumed; never from an older one.
   *
   * @throws {ClientError} The connection ends, with the reason `exec-server notification handling failed: …`.
   */
  notification?(event: ServerEvent, connection: ServerConnection): void;
  /** The connection is lost and recovery begins. */
  disconnected?(error: ClientError): void;
  /**
   * An attempt to resume begins. Its connection may speak before the replay, and knows nothing of what was told on others.
   */
  attaching?(): void;
  /** Resolves when nothing of this part is under way on the lost connection. */
  settled?(): Promise<void>;
  /**
   * Makes up for what was missed, over the new connection, which nobody else may use yet.
   *
   * @throws {ClientError} A transport-closed one: the attempt is repeated. Others should not leave this method.
   */
  replay?(connection: ServerConnection, signal: AbortSignal): Promise<void>;
  /** No connection will come any more. The same error for everybody. */
  failed?(error: ClientError): void;
}
