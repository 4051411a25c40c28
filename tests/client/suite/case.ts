import type { ServerCommand } from "../../program/running_server.ts";

/** One thing that the client must do with any server that speaks this wire. */
export interface Case {
  readonly name: string;
  run(place: Place): Promise<void>;
}

/** The server that a case talks to. */
export interface Place {
  readonly kind: "ours" | "reference";
  /** A WebSocket URL. The server is shared, a session is the case's own. */
  readonly url: string;
  /** What starts another one, without `--listen`. */
  readonly command: ServerCommand;
  /** A directory of the case's own. */
  readonly directory: string;
}
