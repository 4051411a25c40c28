import type { MaybePromise, NativePath } from "./operations.ts";
import { isSameOrBelow } from "../native_path.ts";

/** A path that a request uses. */
export interface PathClaim {
  readonly path: NativePath;
  /** What is changed may turn from a file into a directory or back, so this concerns what lies below the path as well. */
  readonly changes: boolean;
  /** Whether what lies below the path is used with it. */
  readonly tree: boolean;
  /** Whether directories above the path may be made with it. */
  readonly above: boolean;
}

/** A handle that a request uses; other connections may have one of the same name. */
export interface HandleClaim {
  readonly id: string;
  readonly changes: boolean;
  /** The path of a file that gets this name. */
  readonly opens?: NativePath;
}

/** What a request uses. Two that only read something do not get into each other's way. */
export interface Claims {
  readonly paths: readonly PathClaim[];
  readonly handle?: HandleClaim;
}

interface Unfinished extends Claims {
  readonly line: Line;
  /** Never rejects. */
  readonly done: Promise<unknown>;
}

/**
 * The order of the requests of a whole server: one waits for all unfinished ones that came before it, use what it uses
 * and are of the same connection, or of one that has ended, whose last change may still be on its way. Connections that
 * live do not wait for each other.
 *
 * Paths are compared as they are written: two names of one file are two things.
 */
export class Turns {
  /** In the order in which they came. As many as the connections may have at once, running or waiting here. */
  readonly #unfinished = new Set<Unfinished>();

  /** @param signal Aborted when the connection has ended. */
  line(signal: AbortSignal): Line {
    return new Line(this.#unfinished, signal);
  }
}

/** The requests of one connection. */
export class Line {
  readonly #unfinished: Set<Unfinished>;
  readonly #signal: AbortSignal;

  constructor(unfinished: Set<Unfinished>, signal: AbortSignal) {
    this.#unfinished = unfinished;
    this.#signal = signal;
  }

  /**
   * Calls `act` when it is its turn: at once, if there is nothing to wait for.
   *
   * @throws The signal's reason, without a call, if the connection ends before; the promise rejects with it as well.
   */
  run<T>(claims: Claims, act: () => MaybePromise<T>): MaybePromise<T> {
    this.#signal.throwIfAborted();
    const earlier = this.#unfinished.size === 0 ? [] : this.#conflicts(claims);
    if (earlier.length > 0) return this.#keep(claims, this.#after(earlier).then(act));
    const result = act();
    return result instanceof Promise ? this.#keep(claims, result) : result;
  }

  /** What unfinished requests of this connection open under a name. */
  opening(handle: string): readonly NativePath[] {
    const paths: NativePath[] = [];
    for (const { line, handle: claim } of this.#unfinished) {
      if (line === this && claim?.id === handle && claim.opens !== undefined) paths.push(claim.opens);
    }
    return paths;
  }

  #conflicts(claims: Claims): Promise<unknown>[] {
    const earlier: Promise<unknown>[] = [];
    for (const other of this.#unfinished) {
      const own = other.line === this;
      if (!own && !other.line.#signal.aborted) continue;
      if ((own && shareHandle(claims.handle, other.handle)) || sharePath(claims.paths, other.paths)) {
        earlier.push(other.done);
      }
    }
    return earlier;
  }

  #keep<T>(claims: Claims, result: Promise<T>): Promise<T> {
    const finished = (): void => {
      this.#unfinished.delete(request);
    };
    const request: Unfinished = { ...claims, line: this, done: result.then(finished, finished) };
    this.#unfinished.add(request);
    return result;
  }

  #after(earlier: readonly Promise<unknown>[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const signal = this.#signal;
    const ended = (): void => reject(signal.reason);
    signal.addEventListener("abort", ended, { once: true });
    void Promise.all(earlier).then(() => {
      signal.removeEventListener("abort", ended);
      resolve();
    });
    return promise.then(() => signal.throwIfAborted());
  }
}

function shareHandle(one: HandleClaim | undefined, other: HandleClaim | undefined): boolean {
  return one !== undefined && other !== undefined && one.id === other.id && (one.changes || other.changes);
}

function sharePath(some: readonly PathClaim[], others: readonly PathClaim[]): boolean {
  return some.some((one) =>
    others.some((other) => one.path.length >= other.path.length ? meet(one, other) : meet(other, one))
  );
}

/** @param upper Its path is not longer. */
function meet(lower: PathClaim, upper: PathClaim): boolean {
  if (!lower.changes && !upper.changes || !isSameOrBelow(lower.path, upper.path)) return false;
  return upper.changes || upper.tree || lower.above || lower.path.length === upper.path.length;
}
