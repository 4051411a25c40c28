/** One of the two servers in a duel about files, with the directory that is its own. */
import { DEADLINE_MS, sleep } from "../../wire/deadline.ts";
import { Mismatch } from "../../wire/mismatch.ts";
import type { ProcessEvents } from "../../wire/process_events.ts";
import { canonical } from "../exact_json.ts";
import { Side, type SideOptions } from "../side.ts";
import { Guard } from "./guard.ts";
import * as posix from "./posix.ts";
import { fillInData } from "./random_request.ts";
import { fillIn } from "./random_uri.ts";
import { build, content, type Entry } from "./tree.ts";

/** How long a server may take to notice that the old connection is gone, and how often to try, in milliseconds. */
const RESUME_MS = 5_000, RETRY_MS = 5;
const STILL_ATTACHED = '"code":-32010';

export class FsSide implements AsyncDisposable {
  readonly #side: Side;
  /** All that may be changed. It is the server's working directory. */
  readonly directory: string;
  readonly tree: string;
  readonly guard: Guard;

  private constructor(side: Side) {
    this.#side = side;
    this.directory = side.options.workspace.cwd;
    this.tree = `${this.directory}/t`;
    this.guard = new Guard(this.directory);
  }

  static async start(options: SideOptions, transport: "ws" | "stdio"): Promise<FsSide> {
    return new FsSide(await Side.start(options, transport));
  }

  /** Replaces the tree. @throws {Error} If a link in it leads out of the directory. */
  rebuild(entries: readonly Entry[]): void {
    posix.removeTree(this.tree);
    build(this.tree, entries);
    const refusal = this.guard.treeRefusal();
    if (refusal !== null) throw new Error(`the fixture is not safe: ${refusal}`);
  }

  /** A request as it is for this side. */
  fillIn(request: string): string {
    return fillInData(fillIn(request, this.tree), (size) => content(size).toBase64());
  }

  /** Opens a connection and shakes hands: on a new session, or on the old one. */
  async begin(session: "new" | "resume"): Promise<void> {
    const resumes = session === "resume" && this.#side.transport === "ws"
      ? { resumeSessionId: this.#side.sessionId }
      : {};
    const hello = JSON.stringify({ id: 0, method: "initialize", params: { clientName: "duel", ...resumes } });
    const giveUp = performance.now() + RESUME_MS;
    while (true) {
      await this.#side.connect();
      const answer = await this.ask(hello);
      const { result } = JSON.parse(answer) as { result?: { sessionId: string } };
      if (result !== undefined) {
        this.#side.sessionId = result.sessionId;
        break;
      }
      if (!answer.includes(STILL_ATTACHED) || performance.now() > giveUp) {
        throw new Mismatch(`${this.#side.options.name} refuses the handshake: ${answer}`);
      }
      await sleep(RETRY_MS);
    }
    await this.#side.send({ text: '{"method":"initialized"}' });
  }

  async end(): Promise<void> {
    await this.#side.disconnect();
  }

  /** Waits until a program's last word has come. @throws {Mismatch} If it does not come. */
  async closed(id: string): Promise<ProcessEvents> {
    return await this.#side.inbox.until(
      () => this.#side.process(id).closed ? this.#side.process(id) : undefined,
      () => `end of a program of ${this.#side.options.name}`,
      DEADLINE_MS,
    );
  }

  /** What was notified on this connection, each in one spelling. */
  get events(): readonly string[] {
    return this.#side.inbox.missingChanged.map(canonical);
  }

  /** Sends a request and returns the reply as it came. @throws {Mismatch} If there is none. */
  async ask(request: string): Promise<string> {
    return (await this.askTogether([request]))[0]!;
  }

  /** Sends requests without waiting in between. @returns The replies, sorted by id. @throws {Mismatch} If one is missing. */
  async askTogether(requests: readonly string[]): Promise<string[]> {
    for (const request of requests) await this.#side.send({ text: request });
    const { inbox } = this.#side;
    await inbox.until(
      () => inbox.replies.length >= requests.length || undefined,
      () => `answers of ${this.#side.options.name}`,
      DEADLINE_MS,
    );
    return inbox.replies.splice(0).sort((a, b) => Number(a.id) - Number(b.id)).map(({ text }) => text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    posix.removeTree(this.tree); // with names and modes with which the workspace cannot cope
    await this.#side[Symbol.asyncDispose]();
  }
}
