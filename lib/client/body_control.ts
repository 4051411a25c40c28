import type { Log } from "../log.ts";
import type { BodyKeeper } from "./streamed_body.ts";
import type { ServerConnection } from "./server_connection.ts";

export interface BodyControlOptions {
  readonly log: Log;
  /** The one that the body comes by. */
  readonly connection: Pick<ServerConnection, "call">;
  /** Whether the server can be told. */
  hasExtensions(): Promise<boolean>;
}

/** Tells a server that can be told what is wanted of one body: the last wish wins. Others send it as fast as they can. */
export class BodyControl implements BodyKeeper {
  readonly #requestId: string;
  readonly #options: BodyControlOptions;
  #wanted: "send" | "hold" | "cancel" = "send";
  #told: "send" | "hold" | "cancel" = "send";
  #telling = false;

  constructor(requestId: string, options: BodyControlOptions) {
    this.#requestId = requestId;
    this.#options = options;
  }

  hold(on: boolean): void {
    if (this.#wanted === "cancel") return;
    this.#wanted = on ? "hold" : "send";
    void this.#tell();
  }

  cancel(): void {
    this.#wanted = "cancel";
    void this.#tell();
  }

  async #tell(): Promise<void> {
    if (this.#telling) return;
    this.#telling = true;
    const { connection, log } = this.#options;
    const requestId = this.#requestId;
    try {
      if (!await this.#options.hasExtensions()) return;
      while (this.#told !== this.#wanted) {
        const wanted = this.#wanted;
        if (wanted === "cancel") await connection.call("execServer/http/cancelBody", { requestId });
        else await connection.call("execServer/http/holdBody", { requestId, hold: wanted === "hold" });
        this.#told = wanted;
      }
    } catch (error) {
      // Then it comes as if the server could not be told; most often it does not come any more.
      log.debug("a server was not told of a body", { request: requestId, wanted: this.#wanted, error: String(error) });
    } finally {
      this.#telling = false;
    }
  }
}
