import { CredentialError } from "../credential.ts";
import { abortable } from "../../abortable.ts";
import type { AgentKey } from "./agent_key.ts";
import { exchange, ExchangeFailed, type Network } from "./http_exchange.ts";
import { type Claims, parseObject, textMember } from "./jwt_payload.ts";
import { TASK_REGISTRATION_TIMEOUT_MS } from "./limits.ts";

export interface AgentTaskOptions {
  readonly runtimeId: string;
  readonly key: AgentKey;
  readonly authBase: string;
  readonly network: Network;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The task under which one process of an agent makes its requests; registered when it is first needed. */
export class AgentTask {
  readonly #options: AgentTaskOptions;
  #id: Promise<string> | undefined;

  constructor(options: AgentTaskOptions) {
    this.#options = options;
  }

  /**
   * What `Authorization` says of one request.
   *
   * @throws {CredentialError} The task could not be registered; the next call tries again.
   */
  async assertion(signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    this.#id ??= this.#register().catch((error) => {
      this.#id = undefined;
      throw error;
    });
    const taskId = await abortable(this.#id, signal);
    const { runtimeId, key, now } = this.#options;
    const timestamp = rfc3339(now());
    const signature = await key.sign(`${runtimeId}:${taskId}:${timestamp}`);
    const members = { agent_runtime_id: runtimeId, signature, task_id: taskId, timestamp };
    const text = new TextEncoder().encode(JSON.stringify(members));
    return `AgentAssertion ${text.toBase64({ alphabet: "base64url", omitPadding: true })}`;
  }

  async #register(): Promise<string> {
    const { runtimeId, key, now } = this.#options;
    const timestamp = rfc3339(now());
    const { status, bytes } = await this.#post({ timestamp, signature: await key.sign(`${runtimeId}:${timestamp}`) });
    if (status < 200 || status > 299) {
      throw failed(`status ${status}`, status >= 500 || status === 408 || status === 429);
    }
    const taskId = this.#taskId(parseObject(bytes));
    if (taskId === undefined) throw failed("the answer holds no task id that can be read", false);
    return taskId;
  }

  async #post(body: unknown) {
    const { authBase, runtimeId, network } = this.#options;
    const url = `${authBase}/v1/agent/${encodeURIComponent(runtimeId)}/task/register`;
    const headers = { "content-type": "application/json", "accept": "*/*" };
    try {
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return await exchange(network, url, init, TASK_REGISTRATION_TIMEOUT_MS);
    } catch (error) {
      if (error instanceof ExchangeFailed) throw failed(error.message, true, error);
      throw error;
    }
  }

  /** In clear, or sealed for our key; each under the one name or the other. */
  #taskId(answer: Claims | undefined): string | undefined {
    const clear = textMember(answer, "task_id") ?? textMember(answer, "taskId");
    if (clear !== undefined) return clear;
    const sealed = textMember(answer, "encrypted_task_id") ?? textMember(answer, "encryptedTaskId");
    if (sealed === undefined) return undefined;
    try {
      const opened = this.#options.key.open(Uint8Array.fromBase64(sealed));
      return opened === undefined ? undefined : new TextDecoder("utf-8", { fatal: true }).decode(opened) || undefined;
    } catch (error) {
      // Not base64, or not UTF-8.
      if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
      throw error;
    }
  }
}

function failed(why: string, transient: boolean, cause?: unknown): CredentialError {
  return new CredentialError(`failed to register the agent's task: ${why}`, transient, { cause });
}

/** UTC, whole seconds. */
function rfc3339(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
