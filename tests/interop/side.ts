/** One of the two servers in a duel: its program, its connection, and what it chose. */
import type { Inbox } from "../wire/inbox.ts";
import type { ProcessEvents } from "../wire/process_events.ts";
import { StdioClient } from "../wire/stdio_client.ts";
import { RunningServer } from "../wire/target.ts";
import { WebSocketClient } from "../wire/websocket_client.ts";
import { OPCODE } from "../wire/websocket_frames.ts";
import type { Workspace } from "../wire/workspace.ts";
import type { ChosenNames } from "./answers.ts";
import type { Step } from "./scenario.ts";

export interface SideOptions {
  readonly name: string;
  /** The command, without the options that choose a transport. */
  readonly words: readonly string[];
  readonly workspace: Workspace;
}

/** Where a side over WebSocket is reached. */
export type Listening = AsyncDisposable & { readonly url: string };

export class Side implements AsyncDisposable {
  #server: Listening | null = null;
  #client: WebSocketClient | StdioClient | null = null;
  sessionId: string | null = null;

  private constructor(readonly options: SideOptions, readonly transport: "ws" | "stdio") {}

  /** A side over WebSocket serves many scenarios with one program; over stdio each connection has its own. */
  static async start(options: SideOptions, transport: "ws" | "stdio"): Promise<Side> {
    const side = new Side(options, transport);
    if (transport === "ws") side.#server = await RunningServer.start(options.words, options.workspace);
    return side;
  }

  /** One that is reached over WebSocket, whatever is behind it; it ends with the side. */
  static at(options: SideOptions, listening: Listening): Side {
    const side = new Side(options, "ws");
    side.#server = listening;
    return side;
  }

  get inbox(): Inbox {
    return this.#client!.inbox;
  }

  get chosen(): ChosenNames {
    const address = this.#client instanceof WebSocketClient ? this.#client.address : null;
    return { address, sessionId: this.sessionId };
  }

  process(id: string): ProcessEvents {
    return this.inbox.process(id);
  }

  /** Opens a connection in place of the one that is open. */
  async connect(): Promise<void> {
    await this.disconnect();
    const { words, workspace } = this.options;
    this.#client = this.#server !== null
      ? await WebSocketClient.connect(this.#server.url, { pongs: true })
      : new StdioClient({
        words: [...words, "--listen", "stdio"],
        cwd: workspace.cwd,
        env: workspace.environment(),
      });
  }

  async disconnect(): Promise<void> {
    await this.#client?.[Symbol.asyncDispose]();
    this.#client = null;
  }

  /** Does what a step says; `<sessionId>` and `<cwd>` stand for this side's. */
  async send(step: Step): Promise<void> {
    if ("reconnect" in step) return;
    const bytes = "hex" in step ? Uint8Array.fromHex(step.hex) : new TextEncoder().encode(this.#text(step));
    if (this.#client instanceof StdioClient) return await this.#client.bytes(new Uint8Array([...bytes, 10]));
    const client = this.#client!;
    const as = "as" in step ? step.as : undefined;
    if (as === "binary") return await client.frame(OPCODE.binary, bytes);
    if (as !== "fragments") return await client.frame(OPCODE.text, bytes);
    const middle = bytes.length >> 1;
    await client.frame(OPCODE.text, bytes.subarray(0, middle), { fin: false });
    await client.frame(OPCODE.continuation, bytes.subarray(middle));
  }

  #text(step: { readonly text: string } | { readonly values: number }): string {
    if ("values" in step) return `{"id":9,"method":"nope","params":[${"0,".repeat(step.values - 1)}0]}`;
    return step.text.replaceAll("<cwd>", this.options.workspace.cwd).replaceAll(
      "<sessionId>",
      this.sessionId ?? "none",
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disconnect();
    await this.#server?.[Symbol.asyncDispose]();
  }
}
