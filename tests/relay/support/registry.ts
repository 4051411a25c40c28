/** A registry on loopback: it knows who may talk to whom, records what it is asked, and answers badly when told to. */
import { Changes } from "./changes.ts";

export type Route = "register" | "validate" | "connect" | "direct/register";

export interface RegistryRequest {
  readonly route: Route;
  /** As it is in the path, undecoded. */
  readonly environment: string;
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  // deno-lint-ignore no-explicit-any -- looked at member by member; null: it is no JSON
  readonly json: any;
}

/** What is answered instead of, or on top of, the right answer. */
export interface Answer {
  readonly status?: number;
  /** A string as it is, everything else as JSON; the right answer unless it is given. */
  readonly body?: unknown;
  /** Members that replace those of the right answer; undefined takes one away. */
  readonly but?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly delayMs?: number;
  /** Never. */
  readonly hang?: boolean;
  /** The connection breaks after so many bytes of the body. */
  readonly cutAfterBytes?: number;
}

export type Script = Answer | ((request: RegistryRequest) => Answer);

export interface RegistryOptions {
  /** Where WebSockets go. */
  readonly url: (role: "executor" | "harness", registrationId: string) => string;
  /** Whether an authorization is good for one validation only. */
  readonly singleUse?: boolean;
}

interface Registered {
  readonly registrationId: string;
  readonly key: unknown;
}

const SECURITY_PROFILE = "noise_hybrid_ik_v1";

export class TestRegistry implements AsyncDisposable {
  /** Everything that was asked, in order. */
  readonly requests: RegistryRequest[] = [];
  /** Every authorization that was handed out. */
  readonly authorizations: string[] = [];

  readonly #options: RegistryOptions;
  readonly #changes = new Changes();
  readonly #over = new AbortController();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #once: Record<Route, Script[]> = { register: [], validate: [], connect: [], "direct/register": [] };
  readonly #always = new Map<Route, Script>();
  /** Environment → its executor. */
  readonly #registered = new Map<string, Registered>();
  /** Authorization → the harness key and the registration that it was made for. */
  readonly #authorized = new Map<string, { readonly key: string; readonly registrationId: string }>();
  #registrations = 0;

  constructor(options: RegistryOptions) {
    this.#options = options;
    const serve = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    this.#server = Deno.serve(serve, (request) => this.#handle(request));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** The next requests of this route are answered so, one each. */
  next(route: Route, ...scripts: Script[]): void {
    this.#once[route].push(...scripts);
  }

  /** All further requests of this route are answered so; without a script rightly again. */
  always(route: Route, script?: Script): void {
    if (script === undefined) this.#always.delete(route);
    else this.#always.set(route, script);
  }

  requestsOf(route: Route): RegistryRequest[] {
    return this.requests.filter((request) => request.route === route);
  }

  /** The `count`th request of a route, counted from 1, as soon as it has come. */
  asked(route: Route, count = 1): Promise<RegistryRequest> {
    return this.#changes.until(`request ${count} to ${route}`, () => this.requestsOf(route)[count - 1]);
  }

  /** What is registered for an environment. */
  registrationOf(environment: string): string | undefined {
    return this.#registered.get(environment)?.registrationId;
  }

  /** Puts another executor in the place of an environment's, as a registry may that was told to. */
  replace(environment: string, key: unknown, registrationId: string): void {
    this.#registered.set(environment, { registrationId, key });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#server.shutdown();
  }

  async #handle(request: Request): Promise<Response> {
    const [, environment = "", name = ""] =
      /^\/cloud\/environment\/([^/]*)\/(.*)$/.exec(new URL(request.url).pathname) ??
        [];
    const text = await request.text();
    if (!Object.hasOwn(this.#once, name)) return Response.json({ detail: "not found" }, { status: 404 });
    const route = name as Route;
    const asked = {
      ...{ route, environment, text, json: parsed(text) },
      ...{ method: request.method, headers: Object.fromEntries(request.headers) },
    };
    this.requests.push(asked);
    this.#changes.notify();
    const script = this.#once[route].shift() ?? this.#always.get(route) ?? {};
    return await this.#answer(asked, typeof script === "function" ? script(asked) : script);
  }

  async #answer(request: RegistryRequest, answer: Answer): Promise<Response> {
    if (answer.delayMs !== undefined) await this.#pause(answer.delayMs);
    if (answer.hang) await this.#pause(null);
    const right = answer.status === undefined && answer.body === undefined ? this.#right(request) : null;
    const content = answer.body ?? (right === null ? {} : { ...right.body, ...answer.but });
    const body = new TextEncoder().encode(typeof content === "string" ? content : JSON.stringify(content));
    const headers = { "content-type": "application/json", ...answer.headers };
    const init = { status: answer.status ?? right?.status ?? 200, headers };
    if (answer.cutAfterBytes === undefined) return new Response(body, init);
    const part = body.subarray(0, answer.cutAfterBytes);
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(part);
        controller.close(); // earlier than the length says: the server breaks the connection
      },
    });
    return new Response(broken, { ...init, headers: { ...headers, "content-length": String(body.length) } });
  }

  #right(request: RegistryRequest): { status: number; body: Record<string, unknown> } {
    const { route, json } = request;
    const environment = decodeURIComponent(request.environment);
    const ok = (body: Record<string, unknown>) => ({ status: 200, body: { environment_id: environment, ...body } });
    if (route === "register") {
      const registrationId = `registration-${++this.#registrations}`;
      this.#registered.set(environment, { registrationId, key: json.executor_public_key });
      const url = this.#options.url("executor", registrationId);
      return ok({ url, security_profile: SECURITY_PROFILE, executor_registration_id: registrationId });
    }
    if (route === "direct/register") {
      const registrationId = `direct-${++this.#registrations}`;
      const url = this.#options.url("executor", registrationId);
      return ok({ transport: "direct_jsonrpc_v1", registration_id: registrationId, url });
    }
    if (route === "validate") return { status: 200, body: { valid: this.#isValid(json) } };
    const executor = this.#registered.get(environment);
    if (executor === undefined) {
      return { status: 409, body: { error: { code: "environment_offline", message: "nobody is there" } } };
    }
    const { registrationId } = executor;
    return ok({
      url: this.#options.url("harness", registrationId),
      security_profile: SECURITY_PROFILE,
      executor_registration_id: registrationId,
      executor_public_key: executor.key,
      harness_key_authorization: this.#authorize(json.harness_public_key, registrationId),
    });
  }

  /** A new authorization of a harness key, also for harnesses that tests play themselves. */
  #authorize(key: unknown, registrationId: string): string {
    const authorization = `authorization-${crypto.randomUUID()}`;
    this.authorizations.push(authorization);
    this.#authorized.set(authorization, { key: canonical(key), registrationId });
    return authorization;
  }

  // deno-lint-ignore no-explicit-any -- what came
  #isValid(json: any): boolean {
    const authorization = json?.harness_key_authorization;
    const authorized = this.#authorized.get(authorization);
    if (this.#options.singleUse) this.#authorized.delete(authorization);
    return authorized !== undefined && authorized.registrationId === json.executor_registration_id &&
      authorized.key === canonical(json.harness_public_key);
  }

  /** Ends with the registry. @param ms Null: only then. */
  async #pause(ms: number | null): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { signal } = this.#over;
    const timer = ms === null ? undefined : setTimeout(resolve, ms);
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
}

/** A key with its members in one order. */
function canonical(key: unknown): string {
  return JSON.stringify(Object.entries(key ?? {}).sort(([a], [b]) => a < b ? -1 : 1));
}
