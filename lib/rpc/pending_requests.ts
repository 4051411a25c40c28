import type { ExecError } from "../errors.ts";
import type { Json } from "../json.ts";
import { fromRpcError } from "./error_code.ts";
import type { ResponseMessage } from "./message.ts";

/**
 * Requests of ours that wait for their answers. Unbounded by itself: each belongs to a caller who waits. Their ids
 * count from 1 on each connection.
 */
export class PendingRequests {
  #lastId = 0;
  readonly #pending = new Map<string, { resolve(result: Json): void; reject(error: unknown): void }>();

  /**
   * Opens a request and sends it.
   *
   * @param send Gets the id of the request.
   * @param signal Forgets the request; its answer is then a response to no request.
   * @throws {ExecError} What the other side answered, or what {@linkcode fail} was given.
   */
  open(send: (id: number) => void, signal: AbortSignal | undefined): Promise<Json> {
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    this.#pending.set(String(id), { resolve, reject });
    const abort = () => {
      this.#pending.delete(String(id));
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
    send(id);
    return promise.finally(() => signal?.removeEventListener("abort", abort));
  }

  /** Hands an answer to whoever waits for it; false if nobody does. */
  settle({ id, outcome }: ResponseMessage): boolean {
    const pending = this.#pending.get(id);
    if (pending === undefined) return false;
    this.#pending.delete(id);
    if ("result" in outcome) pending.resolve(outcome.result);
    else pending.reject(fromRpcError(outcome.error));
    return true;
  }

  /** No answer comes any more. */
  fail(error: ExecError): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
