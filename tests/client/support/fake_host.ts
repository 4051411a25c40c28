import { toWellFormedJson } from "../../../lib/json.ts";
import type { ConnectionCallOptions } from "../../../lib/client/server_connection.ts";
import type { EnvironmentInfo } from "../../../lib/protocol/environment.ts";
import { type Params, type RequestName, REQUESTS, type Result } from "../../../lib/protocol/methods.ts";

type Answer = (params: unknown, options: ConnectionCallOptions) => unknown;

/** The calls of a client's facades, answered by a test. */
export class FakeHost {
  /** What was asked: the method, and its parameters as they would stand on the wire. */
  readonly asked: { readonly method: RequestName; readonly params: Record<string, unknown> }[] = [];
  readonly #answers: Partial<Record<RequestName, Answer>>;
  readonly capabilities: Record<string, boolean>;

  /** @param answers What is thrown or rejected is the answer as well. A method without one is not expected. */
  constructor(answers: Partial<Record<RequestName, Answer>>, capabilities: Record<string, boolean> = {}) {
    this.#answers = answers;
    this.capabilities = capabilities;
  }

  async call<M extends RequestName>(
    method: M,
    params: Params<M>,
    options: ConnectionCallOptions = {},
  ): Promise<Result<M>> {
    options.signal?.throwIfAborted();
    const encode = REQUESTS[method].params.encode as (params: unknown) => unknown;
    this.asked.push({ method, params: JSON.parse(toWellFormedJson(encode(params))) });
    const answer = this.#answers[method];
    if (answer === undefined) throw new Error(`${method} was not expected`);
    return await answer(params, options) as Result<M>;
  }

  info(): Promise<EnvironmentInfo> {
    return Promise.resolve({
      shell: { name: "sh", path: "/bin/sh" },
      executorVersion: "0.0.0",
      serverInfo: null,
      providerId: null,
      cwd: "file:///srv",
      userHomeDir: null,
      platformOs: "linux",
      prependPathDirs: [],
      temporaryDirectories: null,
      tempDir: null,
      capabilities: this.capabilities,
    });
  }

  methods(): readonly RequestName[] {
    return this.asked.map(({ method }) => method);
  }
}
