import { BodyDeltas } from "./body_deltas.ts";
import { sleep } from "./deadline.ts";
import type { Inbox } from "./inbox.ts";
import { difference, isObject, type MatchContext } from "./match.ts";
import { Mismatch, show, TimingMismatch } from "./mismatch.ts";
import { ProcessEvents } from "./process_events.ts";
import { raceOf } from "./races.ts";

/** What both kinds of client offer. */
export interface Client extends AsyncDisposable {
  readonly inbox: Inbox;
  send(text: string): Promise<void>;
  drop(): Promise<void>;
}

/** How a party compares. */
export interface PartyOptions {
  readonly scenario: string;
  readonly context: MatchContext;
  /** Replies come in the order of the requests; otherwise only those to the same method do. */
  readonly sequential: boolean;
  /** `IP:PORT` of the client as the server sees it, where there is one. */
  readonly address: string | null;
}

interface Request {
  readonly text: string;
  readonly method: unknown;
  readonly params: Readonly<Record<string, unknown>>;
}

/** How long a state that a program brings about by itself may take, and how often to look, in milliseconds. */
const STATE_DEADLINE_MS = 5_000;
const LOOK_AGAIN_MS = 20;

/** One connection of a conversation: the client, and what is expected of the server on it. */
export class Party<C extends Client = Client> {
  readonly #recorded = new Map<string, ProcessEvents>();
  readonly #recordedBodies = new Map<string, BodyDeltas>();
  readonly #started = new Set<string>();
  readonly #requests = new Map<string, Request>();

  constructor(readonly client: C, readonly options: PartyOptions) {}

  get inbox(): Inbox {
    return this.client.inbox;
  }

  /** Remembers a request that is about to be sent, so that its reply can be understood. */
  note(text: string): void {
    const message = parseOrNull(text);
    if (!isObject(message) || message["method"] === undefined) return;
    const params = isObject(message["params"]) ? message["params"] : {};
    this.#requests.set(key(message["id"]), { text, method: message["method"], params });
    const requestId = String(params["requestId"]);
    if (message["method"] === "http/request" && this.inbox.bodies.get(requestId)?.done) {
      this.#compareBody(requestId); // its id is used again
    }
    const id = params["processId"];
    if (message["method"] !== "process/start" || typeof id !== "string") return;
    if (this.inbox.processes.get(id)?.closed) this.#compare(id); // its id is used again
    this.#started.add(id);
  }

  /** The processes that were started here. */
  get started(): ReadonlySet<string> {
    return this.#started;
  }

  recorded(processId: string): ProcessEvents {
    let events = this.#recorded.get(processId);
    if (events === undefined) this.#recorded.set(processId, events = new ProcessEvents());
    return events;
  }

  /** Waits for a notification; how output and bodies are numbered and cut is compared later. */
  async expectNotification(message: Readonly<Record<string, unknown>>): Promise<void> {
    if (message["method"] === "fs/missingChanged") return await this.#expectMissingChanged(message);
    if (message["method"] === "http/request/bodyDelta") return await this.#expectDelta(message);
    const id = String((message["params"] as { processId: unknown }).processId);
    this.recorded(id).accept(message);
    await this.expectRecorded(id, () => show(message));
  }

  async #expectMissingChanged(message: Readonly<Record<string, unknown>>): Promise<void> {
    const received = await this.inbox.until(() => this.inbox.missingChanged.shift(), () => show(message));
    const different = difference(message, received, this.options.context);
    if (different !== null) throw new Mismatch(different);
  }

  async #expectDelta(message: Readonly<Record<string, unknown>>): Promise<void> {
    const id = String((message["params"] as { requestId: unknown }).requestId);
    let recorded = this.#recordedBodies.get(id);
    if (recorded === undefined) this.#recordedBodies.set(id, recorded = new BodyDeltas());
    recorded.accept(message);
    const received = this.inbox.body(id);
    await this.inbox.until(() => received.done || received.covers(recorded) || undefined, () => show(message));
  }

  /** Watches for a while that nothing comes. @throws {Mismatch} If it does. */
  async expectNone(kind: "reply" | "notification", ms: number): Promise<void> {
    await sleep(ms);
    if (kind === "notification") return this.#finishMissingChanged();
    const { replies } = this.inbox;
    if (replies.length > 0) throw new Mismatch(`expected no reply, got ${show(replies)}`);
  }

  /** Waits until all that is recorded of a process so far has come, or nothing more can come. */
  async expectRecorded(id: string, what: () => string): Promise<void> {
    const received = this.inbox.process(id);
    const recorded = this.recorded(id);
    await this.inbox.until(() => received.closed || received.covers(recorded) || undefined, what);
  }

  /**
   * Waits for a reply and compares it.
   *
   * What a read that does not wait shows, and when a dropped session can be resumed, depends on what happens without
   * us: such a request is repeated until the answer is the recorded one.
   */
  async expectReply(expected: Readonly<Record<string, unknown>>): Promise<void> {
    const { scenario, context, address } = this.options;
    const id = expected["id"];
    const giveUp = performance.now() + STATE_DEADLINE_MS;
    if (address !== null) context.bindings.set("peer", address);
    while (true) {
      const reply = await this.takeReply(id);
      const different = difference(expected, reply, context);
      if (different === null) return;
      const race = raceOf(scenario, id);
      if (race?.orResult !== undefined && difference(race.orResult, reply["result"], context) === null) return;
      if (race?.orError !== undefined && difference(race.orError, reply["error"], context) === null) return;
      const request = this.#requests.get(key(id));
      if (request !== undefined && mayAskAgain(request, expected, reply) && performance.now() < giveUp) {
        await sleep(LOOK_AGAIN_MS);
        await this.client.send(request.text);
      } else if (request?.method === "process/read" && reply["result"] !== undefined) {
        throw new TimingMismatch(different);
      } else throw new Mismatch(different);
    }
  }

  /** The next reply; with concurrent requests the next one to a request of the same method. */
  async takeReply(id: unknown): Promise<Readonly<Record<string, unknown>>> {
    const { replies } = this.inbox;
    const method = (id: unknown) => this.#requests.get(key(id))?.method;
    const matches = (other: unknown) => this.options.sequential || method(other) === method(id);
    return await this.inbox.until(() => {
      const at = replies.findIndex((reply) => matches(reply.id));
      if (at === -1) return undefined;
      const { message, begunBodies } = replies.splice(at, 1)[0]!;
      this.#checkOrder(message, begunBodies);
      return message;
    }, () => `reply to ${show(id)}`);
  }

  /** A streamed body comes after the reply. */
  #checkOrder(reply: Readonly<Record<string, unknown>>, begunBodies: readonly string[]): void {
    const request = this.#requests.get(key(reply["id"]));
    if (request?.method !== "http/request" || !begunBodies.includes(String(request.params["requestId"]))) return;
    throw new Mismatch(`a part of the body came before the reply ${show(reply)}`);
  }

  /**
   * Makes sure that everything recorded has come, and nothing else.
   *
   * @throws {Mismatch}
   */
  async finish(): Promise<void> {
    if (this.inbox.end === null) await this.#fence();
    for (const id of new Set([...this.#recorded.keys(), ...this.inbox.processes.keys()])) this.#compare(id);
    for (const id of new Set([...this.#recordedBodies.keys(), ...this.inbox.bodies.keys()])) this.#compareBody(id);
    this.#finishMissingChanged();
    this.finishReplies();
    if (this.inbox.end?.how === "broken") throw new Mismatch(`the connection broke: ${show(this.inbox.end)}`);
  }

  /**
   * Makes sure that nothing missing was told to have changed. Whatever is mounted on the machine counts as a change of
   * everything, so another run may show none.
   */
  #finishMissingChanged(): void {
    const { missingChanged } = this.inbox;
    if (missingChanged.length > 0) throw new TimingMismatch(`unexpected notifications ${show(missingChanged)}`);
  }

  /** Makes sure that no reply is left. @throws {Mismatch} */
  finishReplies(): void {
    const left = this.inbox.replies.filter(({ id }) => raceOf(this.options.scenario, id)?.optional !== true);
    if (left.length > 0) throw new Mismatch(`unexpected replies ${show(left)}`);
  }

  /** Asks once more: what comes before the answer was sent before it. */
  async #fence(): Promise<void> {
    const text = JSON.stringify({ id: "fence", method: "environment/status" });
    this.note(text);
    await this.client.send(text);
    const reply = await this.takeReply("fence");
    if (reply["id"] !== "fence") throw new Mismatch(`unexpected reply ${show(reply)}`);
  }

  /**
   * Makes sure that what is recorded of a process has come, as far as a connection that is cut can tell.
   *
   * @returns What is recorded.
   * @throws {Mismatch}
   */
  compareBeginning(id: string): ProcessEvents {
    const recorded = this.recorded(id);
    this.#check(id, (received, rules) => received.compareBeginning(recorded, rules));
    return recorded;
  }

  #compare(id: string): void {
    this.#check(id, (received, rules) => received.compare(this.recorded(id), rules));
    this.inbox.processes.delete(id);
    this.#recorded.delete(id);
  }

  #compareBody(requestId: string): void {
    this.inbox.body(requestId).compare(this.#recordedBodies.get(requestId) ?? new BodyDeltas());
    this.inbox.bodies.delete(requestId);
    this.#recordedBodies.delete(requestId);
  }

  #check(id: string, compare: (received: ProcessEvents, rules: { inOrder: boolean; fromOne: boolean }) => void): void {
    try {
      compare(this.inbox.process(id), { inOrder: this.options.context.rules.inOrder, fromOne: this.#started.has(id) });
    } catch (error) {
      throw error instanceof Mismatch ? new Mismatch(`process ${show(id)}: ${error.message}`) : error;
    }
  }
}

function mayAskAgain(
  { method, params }: Request,
  expected: Readonly<Record<string, unknown>>,
  reply: Readonly<Record<string, unknown>>,
): boolean {
  if (expected["result"] === undefined) return false;
  if (method === "process/read") return params["waitMs"] === undefined && reply["result"] !== undefined;
  const stillAttached = isObject(reply["error"]) && reply["error"]["code"] === -32010;
  return method === "initialize" && stillAttached;
}

function key(id: unknown): string {
  return JSON.stringify(id) ?? "none";
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // malformed on purpose
  }
}
