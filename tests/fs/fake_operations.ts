import type { FileOperations, MaybePromise, OpenFile } from "../../lib/fs/operations.ts";

/** A file that does what the test says and remembers how often it was closed. */
export class FakeFile implements OpenFile {
  disposed = 0;
  read: OpenFile["read"] = () => new Uint8Array(0);
  write: OpenFile["write"] = () => {};

  [Symbol.dispose](): void {
    this.disposed++;
  }
}

type Answer = (...args: unknown[]) => MaybePromise<unknown>;

/** Operations that the test answers; the others fail. */
export function fakeOperations(answers: Partial<Record<keyof FileOperations, Answer>>): FileOperations {
  const notAsked = (name: string): Answer => () => {
    throw new Error(`${name} was not expected`);
  };
  return new Proxy({}, {
    // A promise asks for its own.
    get: (_, name) => name === "then" ? undefined : answers[name as keyof FileOperations] ?? notAsked(String(name)),
  }) as FileOperations;
}
