/** A server, one client of it, and programs that can be found again wherever they have gone. */
import assert from "node:assert/strict";
import type { WireClient } from "../support/wire_client.ts";
import { eventually } from "./eventually.ts";
import { marked, writtenBytes } from "./proc.ts";
import { ProcessWatch, type ProgramSpec, type WatchedProcess } from "./process_watch.ts";
import { RunningServer } from "./running_server.ts";

export class Scene implements AsyncDisposable {
  /** What every program of this scene carries in its environment. */
  readonly mark = `scene-${crypto.randomUUID()}`;
  #started = 0;

  private constructor(
    readonly server: RunningServer,
    readonly client: WireClient,
    readonly watch: ProcessWatch,
  ) {}

  static async open(listen: "ws" | "stdio" = "ws"): Promise<Scene> {
    const server = await RunningServer.start({ listen });
    try {
      const client = await server.connect();
      await client.initialize();
      return new Scene(server, client, new ProcessWatch(client));
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts a program; its output is counted and not kept. */
  start(spec: ProgramSpec): Promise<WatchedProcess> {
    return this.watch.start(`program ${++this.#started}`, { ...spec, mark: this.mark }, false);
  }

  /** The programs of this scene that live. */
  survivors(): number[] {
    return marked(this.mark);
  }

  /** Fails if a program of this scene is alive after `patienceMs`. */
  async nobodySurvives(patienceMs: number): Promise<void> {
    await eventually("all programs are gone", () => assert.deepEqual(this.survivors(), []), patienceMs);
  }

  /** Starts a program that writes without end, stops reading, and returns when it is held up for that reason. */
  async floodUnread(tty = false): Promise<WatchedProcess> {
    const others = this.survivors();
    const flood = await this.start({ argv: ["yes"], tty });
    this.client.pauseReading();
    // A start is answered once exec has begun; the kernel shows the new environment only when exec is done.
    const pids: number[] = [];
    await eventually("the flooding program is seen to run", () => {
      pids.push(...this.survivors().filter((each) => !others.includes(each)));
      assert.equal(pids.length, 1);
    });
    let before = -1;
    let still = 0;
    await eventually("a program whose output nobody takes is held up", () => {
      const now = writtenBytes(pids[0]!);
      still = now === before ? still + 1 : 0;
      before = now;
      assert.ok(now > 0 && still >= 10, `it has written ${now} bytes`);
    });
    return flood;
  }

  /** Ends the client, the server and, should the server have left any, the programs. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
    for (const pid of this.survivors()) Deno.kill(pid, "SIGKILL");
  }
}
