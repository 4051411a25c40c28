import assert from "node:assert/strict";
import fc from "fast-check";
import { ConnectionFiles } from "../../../lib/fs/connection_files.ts";
import { linuxFiles } from "../../../lib/fs/linux/system.ts";
import type { MaybePromise } from "../../../lib/fs/operations.ts";
import { Turns } from "../../../lib/fs/turns.ts";
import { silentLog } from "../../../lib/log.ts";
import { never, pattern, Scratch, textOf } from "../scratch.ts";

const ignore = Deno.build.os !== "linux";

type Request =
  | { readonly do: "writeFile"; readonly path: string; readonly size: number; readonly seed: number }
  | { readonly do: "readFile" | "remove"; readonly path: string }
  | { readonly do: "copy"; readonly path: string; readonly to: string }
  | { readonly do: "open"; readonly handle: string; readonly path: string; readonly mode: "read" | "replace" }
  | { readonly do: "readBlock"; readonly handle: string; readonly offset: number; readonly size: number }
  | {
    readonly do: "writeBlock";
    readonly handle: string;
    readonly offset: number;
    readonly size: number;
    readonly seed: number;
  }
  | { readonly do: "close"; readonly handle: string };

/** What a request came to: content as length and sum, or the words of its failure. */
type Outcome = string;

const done = "done";

function digest(bytes: Uint8Array): Outcome {
  return `${bytes.length} bytes, ${bytes.reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7)}`;
}

/** Files and handles, one request after the other. */
class Model {
  readonly #names = new Map<string, { bytes: Uint8Array }>();
  readonly #handles = new Map<string, { file: { bytes: Uint8Array }; mode: "read" | "replace" }>();

  answer(request: Request): Outcome {
    switch (request.do) {
      case "writeFile":
        this.#emptied(request.path).bytes = pattern(request.size, request.seed);
        return done;
      case "readFile": {
        const file = this.#names.get(request.path);
        return file === undefined ? "No such file or directory (os error 2)" : digest(file.bytes);
      }
      case "remove":
        this.#names.delete(request.path);
        return done;
      case "copy": {
        const file = this.#names.get(request.path);
        if (file === undefined) return "No such file or directory (os error 2)";
        if (request.path !== request.to) this.#emptied(request.to).bytes = file.bytes.slice();
        return done;
      }
      case "open": {
        const { handle, path, mode } = request;
        if (this.#handles.has(handle)) return `file handle \`${handle}\` already exists`;
        const file = mode === "replace" ? this.#emptied(path) : this.#names.get(path);
        if (file === undefined) return "No such file or directory (os error 2)";
        this.#handles.set(handle, { file, mode });
        return done;
      }
      case "readBlock": {
        const handle = this.#handles.get(request.handle);
        if (handle === undefined) return `unknown file handle \`${request.handle}\``;
        if (handle.mode === "read") {
          return digest(handle.file.bytes.subarray(request.offset, request.offset + request.size));
        }
        this.#handles.delete(request.handle);
        return "Bad file descriptor (os error 9)";
      }
      case "writeBlock": {
        const handle = this.#handles.get(request.handle);
        if (handle === undefined) return `unknown file handle \`${request.handle}\``;
        if (handle.mode === "read") return "Bad file descriptor (os error 9)";
        const { offset, size, seed } = request;
        const bytes = new Uint8Array(Math.max(handle.file.bytes.length, offset + size));
        bytes.set(handle.file.bytes);
        bytes.set(pattern(size, seed), offset);
        handle.file.bytes = bytes;
        return done;
      }
      case "close":
        this.#handles.delete(request.handle);
        return done;
    }
  }

  #emptied(path: string): { bytes: Uint8Array } {
    let file = this.#names.get(path);
    if (file === undefined) this.#names.set(path, file = { bytes: new Uint8Array(0) });
    file.bytes = new Uint8Array(0);
    return file;
  }
}

function ask(files: ConnectionFiles, scratch: Scratch, request: Request): MaybePromise<unknown> {
  switch (request.do) {
    case "writeFile":
      return files.writeFile(scratch.path(request.path), pattern(request.size, request.seed), true);
    case "readFile":
      return files.readFile(scratch.path(request.path), true);
    case "remove":
      return files.remove(scratch.path(request.path), { recursive: true, force: true, followSymlinks: true });
    case "copy":
      return files.copy(scratch.path(request.path), scratch.path(request.to), false);
    case "open":
      return files.open(request.handle, () => scratch.path(request.path), request.mode);
    case "readBlock":
      return files.readBlock(request.handle, BigInt(request.offset), request.size);
    case "writeBlock":
      return files.writeBlock(request.handle, BigInt(request.offset), pattern(request.size, request.seed));
    case "close":
      return files.close(request.handle);
  }
}

async function outcome(answer: () => MaybePromise<unknown>): Promise<Outcome> {
  try {
    const value = await answer() as { base64: Uint8Array } | { bytes: Uint8Array } | Uint8Array | undefined;
    if (value === undefined) return done;
    if (value instanceof Uint8Array) return digest(value);
    return digest("base64" in value ? Uint8Array.fromBase64(textOf(value.base64)) : value.bytes);
  } catch (error) {
    return (error as Error).message;
  }
}

const path = fc.constantFrom("a", "b");
const handle = fc.constantFrom("g", "h");
const seed = fc.nat(100);
/** Small ones are done at once, larger ones by other threads, of which one may be faster. */
const size = fc.oneof(
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 100 }) },
  { weight: 2, arbitrary: fc.integer({ min: 65_537, max: 200_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 2_097_153, max: 2_300_000 }) },
);
const blockSize = size.map((size) => Math.min(size, 1024 * 1024));
const offset = fc.constantFrom(0, 1, 70_000);
const request: fc.Arbitrary<Request> = fc.oneof(
  fc.record({ do: fc.constant("writeFile" as const), path, size, seed }),
  fc.record({ do: fc.constantFrom("readFile" as const, "readFile" as const, "remove" as const), path }),
  fc.record({ do: fc.constant("copy" as const), path, to: path }),
  fc.record({ do: fc.constant("open" as const), handle, path, mode: fc.constantFrom("read", "replace") }),
  fc.record({ do: fc.constant("readBlock" as const), handle, offset, size: blockSize }),
  fc.record({ do: fc.constant("writeBlock" as const), handle, offset, size: blockSize, seed }),
  fc.record({ do: fc.constant("close" as const), handle }),
);

Deno.test(
  "requests that are sent all at once are answered as if one had come after the other",
  { ignore },
  async () => {
    using operations = linuxFiles({ log: silentLog });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 5, maxLength: 40 }), async (requests) => {
        using scratch = new Scratch();
        using files = new ConnectionFiles({ operations, turns: new Turns(), signal: never, budgetMs: () => 5 });
        const model = new Model();
        const expected = requests.map((request) => model.answer(request));
        const actual = await Promise.all(requests.map((request) => outcome(() => ask(files, scratch, request))));
        assert.deepEqual(actual, expected);
      }),
      { numRuns: 20 },
    );
  },
);
