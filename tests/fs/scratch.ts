import assert from "node:assert/strict";
import type { NativePath } from "../../lib/fs/operations.ts";
import { openDescriptors } from "../support/linux.ts";

/** Whether the tests may make devices, mount and become another user. */
export const isRoot = Deno.build.os === "linux" && Deno.uid() === 0;

/** Text, or bytes that are no text, as one run of bytes. */
export function bytesOf(...parts: readonly (string | readonly number[])[]): NativePath {
  const pieces = parts.map((part) => typeof part === "string" ? new TextEncoder().encode(part) : new Uint8Array(part));
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Bytes that differ from place to place, so that a piece in the wrong place shows. */
export function pattern(length: number, seed = 0): Uint8Array<ArrayBuffer> {
  let state = seed + 1;
  return new Uint8Array(length).map(() => (state = (state * 1664525 + 1013904223) >>> 0) >>> 24);
}

/** Says where two runs of bytes begin to differ; quicker than a deep comparison. */
export function assertSameBytes(actual: Uint8Array, expected: Uint8Array, what = "bytes"): void {
  let at = 0;
  while (at < expected.length && actual[at] === expected[at]) at++;
  assert.ok(
    at === expected.length && actual.length === expected.length,
    `${what} differ at ${at}, lengths ${actual.length} and ${expected.length}`,
  );
}

/** A directory of a test's own, removed with the scope; descriptors that the test has left open are a failure. */
export class Scratch implements Disposable {
  readonly root = Deno.realPathSync(Deno.makeTempDirSync());
  readonly #open = openDescriptors();
  readonly #listeners: Deno.Listener[] = [];

  /** A path below the directory. */
  path(...parts: readonly (string | readonly number[])[]): NativePath {
    return bytesOf(`${this.root}/`, ...parts);
  }

  write(name: string, content: string | Uint8Array): void {
    Deno.writeFileSync(
      `${this.root}/${name}`,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
  }

  read(name: string): Uint8Array {
    return Deno.readFileSync(`${this.root}/${name}`);
  }

  directory(name: string): void {
    Deno.mkdirSync(`${this.root}/${name}`);
  }

  link(name: string, target: string): void {
    Deno.symlinkSync(target, `${this.root}/${name}`);
  }

  /** A file of holes. */
  sparse(name: string, size: number): void {
    this.write(name, "");
    Deno.truncateSync(`${this.root}/${name}`, size);
  }

  fifo(name: string): void {
    this.shell(`mkfifo '${name}'`);
  }

  /** A name on which a socket listens. */
  socket(name: string): void {
    this.#listeners.push(Deno.listen({ transport: "unix", path: `${this.root}/${name}` }));
  }

  /** The null device under another name. Wants root. */
  nullDevice(name: string): void {
    this.shell(`mknod '${name}' c 1 3`);
  }

  /** Runs a command of the shell in the directory; its output. */
  shell(command: string): string {
    const { success, stdout, stderr } = new Deno.Command("/bin/sh", { args: ["-c", command], cwd: this.root })
      .outputSync();
    if (!success) throw new Error(`${command}: ${textOf(stderr)}`);
    return textOf(stdout);
  }

  [Symbol.dispose](): void {
    for (const listener of this.#listeners) listener.close();
    Deno.removeSync(this.root, { recursive: true });
    const left = [...openDescriptors()].filter(([fd, target]) => this.#open.get(fd) !== target);
    const ours = left.filter(([, target]) => target.startsWith(this.root));
    if (ours.length > 0) throw new Error(`left open: ${ours.map(([, target]) => target).join(", ")}`);
  }
}

const NOBODY = 65534;

/**
 * Does something in this thread with the rights of an ordinary user. Root gives up for it what it may do with files of
 * others; who is none is one already.
 */
export function asOrdinaryUser<T>(act: () => T): T {
  if (!isRoot) return act();
  const library = Deno.dlopen("libc.so.6", { setfsuid: { parameters: ["u32"], result: "i32" } });
  try {
    library.symbols.setfsuid(NOBODY);
    return act();
  } finally {
    library.symbols.setfsuid(0);
    library.close();
  }
}

/** A signal that is never aborted. */
export const never = new AbortController().signal;
