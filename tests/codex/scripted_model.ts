/**
 * A model that says what a script tells it to: as much of the Responses API as the Codex CLI uses, on loopback, with
 * answers as server-sent events.
 */

/** One thing that the model says, or that it is told: a message, a tool call, the output of one. */
export type Item = Readonly<Record<string, unknown>>;

/** What the model is told in one request. */
export interface ModelRequest {
  /** The whole conversation so far. */
  readonly input: readonly Item[];
  readonly tools: readonly Item[];
}

/** Says something, and is told what came of it; the turn of the agent is over when it has said only a message. */
export type Script = Generator<readonly Item[], void, ModelRequest>;

const RESPONSES_PATH = "/v1/responses";

export class ScriptedModel implements AsyncDisposable {
  /** All that the model was told, in order. */
  readonly requests: ModelRequest[] = [];
  /** Requests that the script does not provide for. A run with such a fault has failed. */
  readonly faults: string[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => this.#answer(request));
  }

  /** The `base_url` of the provider in the configuration of the CLI. */
  get baseUrl(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (request.method !== "POST" || pathname !== RESPONSES_PATH) {
      await request.body?.cancel();
      return this.#fault(`an unexpected request: ${request.method} ${pathname}`);
    }
    const told = await request.json() as ModelRequest;
    this.requests.push(told);
    try {
      const { value, done } = this.#script.next(told);
      return done ? this.#fault("the script was over and the model was asked again") : events(value);
    } catch (error) {
      return this.#fault(`the script failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #fault(what: string): Response {
    this.faults.push(what);
    return Response.json({ error: { message: what } }, { status: 400 });
  }
}

/** One whole answer of the model. */
function events(items: readonly Item[]): Response {
  const id = `resp_${crypto.randomUUID()}`;
  const usage = {
    input_tokens: 1,
    input_tokens_details: null,
    output_tokens: 1,
    output_tokens_details: null,
    total_tokens: 2,
  };
  const all = [
    { type: "response.created", response: { id } },
    ...items.map((item) => ({ type: "response.output_item.done", item })),
    { type: "response.completed", response: { id, usage } },
  ];
  const text = all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}
