/** Tells two servers the same and compares what they do. */
import type { Rules } from "../wire/differences.ts";
import { DEADLINE_MS, sleep } from "../wire/deadline.ts";
import { Mismatch, show } from "../wire/mismatch.ts";
import { isObject } from "../wire/match.ts";
import { type Answer, normalise, sameReply } from "./answers.ts";
import { compareProcess, sameRead } from "./process_answers.ts";
import { param, ProcessModel, type StartedProcess } from "./process_model.ts";
import type { Scenario, Step } from "./scenario.ts";
import type { Side } from "./side.ts";

const INITIALIZE: Step = { text: '{"id":"hello","method":"initialize","params":{"clientName":"duel"}}' };
const RESUME: Step = {
  text: '{"id":"hello","method":"initialize","params":{"clientName":"duel","resumeSessionId":"<sessionId>"}}',
};
const INITIALIZED: Step = { text: '{"method":"initialized"}' };
const FENCE = "fence";

/** Methods that would change files, wait or go to the network if they were carried out. */
const NEVER_CARRIED_OUT =
  /"(fs\/(open|writeBlock|writeFile|createDirectory|remove|copy|watchMissing)|http\/request|capabilities\/discoverV2)"/;

/** How long both may take to come to the same state, and how often to look, in milliseconds. */
const AGREE_MS = 5_000;
const LOOK_MS = 5;
/** After a violation on stdio the reference ends only when its input yields something: blank lines at this interval. */
const POKE_MS = 50;

export class Duel {
  #model = new ProcessModel();
  #initialized = { reply: false, notification: false };
  #over = false;

  constructor(readonly reference: Side, readonly ours: Side, readonly rules: Rules) {}

  /** @throws {Mismatch} At the first difference. */
  async play({ handshake, steps }: Scenario): Promise<void> {
    await this.#connect();
    this.#model = new ProcessModel();
    for (const side of this.#sides) side.sessionId = null;
    const first = { none: [], initialize: [INITIALIZE], all: [INITIALIZE, INITIALIZED] }[handshake];
    for (const [index, step] of [...first, ...steps].entries()) {
      try {
        if (!this.#over) await this.#step(step);
      } catch (error) {
        if (error instanceof Mismatch) error.message = `step ${index + 1}, ${show(step)}: ${error.message}`;
        throw error;
      }
    }
    if (!this.#over) { for (const process of this.#model.processes.values()) await this.#settle(process); }
    await Promise.all(this.#sides.map((side) => side.disconnect()));
  }

  get #sides(): readonly [Side, Side] {
    return [this.reference, this.ours];
  }

  async #connect(): Promise<void> {
    await Promise.all(this.#sides.map((side) => side.connect()));
    this.#initialized = { reply: false, notification: false };
    this.#over = false;
  }

  async #step(step: Step): Promise<void> {
    if ("reconnect" in step) return await this.#reconnect(step.reconnect === "resume");
    const text = "text" in step ? step.text : "";
    const request = parseOrUndefined(text);
    const { reply, notification } = this.#initialized;
    if (reply && notification && NEVER_CARRIED_OUT.test(text)) return;
    if (isObject(request) && request["method"] === "initialized") this.#initialized.notification = true;
    const [theirs, own] = await this.#answers(step, request);
    await this.#compare(theirs, own, request, step);
    this.#over = own.ended;
    if (!own.ended && own.replies.length > 0) await this.#follow(request, JSON.parse(own.replies[0]!));
  }

  /** Drops both connections and opens new ones, on the old sessions if asked for. */
  async #reconnect(resume: boolean): Promise<void> {
    const resumes = resume && this.#initialized.reply && this.reference.transport === "ws";
    for (const process of this.#model.processes.values()) await this.#settle(process);
    await this.#connect();
    this.#model.reconnected(resumes);
    if (!resumes) { for (const side of this.#sides) side.sessionId = null; }
    const giveUp = performance.now() + AGREE_MS;
    while (true) { // a server may need a moment to notice that the old connection is gone
      const answers = await this.#answers(resumes ? RESUME : INITIALIZE, {});
      const attached = answers.some(({ replies }) => replies[0]?.includes('"code":-32010'));
      if (attached && performance.now() < giveUp) {
        await sleep(LOOK_MS);
        if (!answers.every(({ replies }) => replies[0]?.includes('"code":-32010'))) await this.#connect();
        continue;
      }
      await this.#compare(...answers, { method: "initialize" }, INITIALIZE);
      break;
    }
    this.#initialized = { reply: true, notification: true };
    await this.#answers(INITIALIZED, { method: "initialized" });
  }

  async #answers(step: Step, request: unknown): Promise<[Answer, Answer]> {
    // Over WebSocket a second message in flight would make the reference wait for a delayed acknowledgement.
    const silent = isObject(request) && request["method"] === "initialized" && !Object.hasOwn(request, "id");
    const fenced = silent || this.reference.transport === "stdio";
    return await Promise.all(this.#sides.map((side) => answer(side, step, fenced))) as [Answer, Answer];
  }

  async #compare(theirs: Answer, own: Answer, request: unknown, step: Step): Promise<void> {
    const same = theirs.ended === own.ended && theirs.replies.length === own.replies.length &&
      theirs.replies.every((reply, i) => sameReply(reply, own.replies[i]!, request, this.rules));
    if (same) return;
    if (isObject(request) && request["method"] === "process/read" && !theirs.ended && !own.ended) {
      const process = this.#model.processes.get(String(param(request, "processId", 0)));
      for (const giveUp = performance.now() + AGREE_MS; performance.now() < giveUp; await sleep(LOOK_MS)) {
        const [theirs, own] = await this.#answers(step, request);
        if (sameRead(theirs, own, process, this.#sides)) return;
      }
    }
    throw new Mismatch(`the reference answers ${show(theirs)}, ours ${show(own)}`);
  }

  /** Waits for what a request has set off, when both have answered it alike. */
  async #follow(request: unknown, reply: { result?: Record<string, unknown> }): Promise<void> {
    const method = isObject(request) ? request["method"] : undefined;
    const { result } = reply;
    if (!isObject(result)) return;
    if (method === "initialize") this.#initialized.reply = true;
    if (method === "process/write" && result["status"] === "accepted") this.#model.written(request);
    const touched = method === "process/start"
      ? this.#model.started(request)
      : method === "process/signal" || method === "process/terminate"
      ? this.#model.ended(request)
      : this.#model.processes.get(String(param(request, "processId", 0)));
    if (touched !== undefined) await this.#settle(touched);
  }

  /** Waits until both have made the same of a process, and compares it. */
  async #settle(process: StartedProcess): Promise<void> {
    const done = (side: Side) => {
      const events = side.process(process.id);
      return process.stays
        ? events.totalBytes >= process.expectedBytes
        : events.closed || !process.here && events.exited;
    };
    const giveUp = performance.now() + AGREE_MS;
    while (true) {
      const different = this.#sides.every(done) ? compareProcess(process, ...this.#sides) : "still running";
      if (different === null) return;
      if (performance.now() > giveUp) {
        const seen = this.#sides.map((side) => side.process(process.id).cut());
        throw new Mismatch(`process ${show(process)}: ${different}; the reference's ${seen[0]}, ours ${seen[1]}`);
      }
      await sleep(LOOK_MS);
    }
  }
}

/** Sends a step and collects what comes until the next reply or, `fenced`, until that to another request. */
async function answer(side: Side, step: Step, fenced: boolean): Promise<Answer> {
  const { inbox } = side;
  await side.send(step);
  if (fenced) await side.send({ text: `{"id":"${FENCE}","method":"environment/status"}` });
  const poke = side.transport === "stdio" ? setInterval(() => void side.send({ text: "" }), POKE_MS) : undefined;
  try {
    await inbox.until(
      () => {
        const enough = fenced ? inbox.replies.at(-1)?.id === FENCE : inbox.replies.length > 0;
        return enough || inbox.end !== null || undefined;
      },
      () => `answer of ${side.options.name}`,
      DEADLINE_MS,
    );
  } finally {
    clearInterval(poke);
  }
  const replies = inbox.replies.splice(0).filter(({ id }) => id !== FENCE);
  for (const { message } of replies) {
    const result = message["result"];
    if (isObject(result) && typeof result["sessionId"] === "string") side.sessionId = result["sessionId"];
  }
  if (inbox.end?.how === "broken") throw new Mismatch(`${side.options.name}: ${show(inbox.end)}`);
  return { replies: replies.map(({ text }) => normalise(text, side.chosen)), ended: inbox.end !== null };
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // malformed on purpose
  }
}
