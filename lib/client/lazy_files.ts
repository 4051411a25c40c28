import { fileError } from "./file_error.ts";
import type { DirectoryEntry, FileInfo, FileOptions, Files } from "./files.ts";
import type { LazyClient } from "./lazy_client.ts";
import type { EnvironmentPath } from "./process.ts";
import type { Result } from "../protocol/methods.ts";

type OptionsOf<M extends keyof Files> = NonNullable<Parameters<Files[M]>[1]>;

/** The files of an environment whose client comes when it is needed. A stream stays with the client that opened it. */
export class LazyFiles implements Files {
  readonly #client: LazyClient;

  constructor(client: LazyClient) {
    this.#client = client;
  }

  readFile(path: EnvironmentPath, options?: FileOptions): Promise<Uint8Array<ArrayBuffer>> {
    return this.#with(options, (files) => files.readFile(path, options));
  }

  readTextFile(path: EnvironmentPath, options?: FileOptions): Promise<string> {
    return this.#with(options, (files) => files.readTextFile(path, options));
  }

  writeFile(
    path: EnvironmentPath,
    data: Uint8Array | string | ReadableStream<Uint8Array>,
    options?: FileOptions,
  ): Promise<void> {
    return this.#with(options, (files) => files.writeFile(path, data, options));
  }

  writeTextFile(path: EnvironmentPath, text: string, options?: FileOptions): Promise<void> {
    return this.#with(options, (files) => files.writeTextFile(path, text, options));
  }

  open(path: EnvironmentPath, options?: OptionsOf<"open">): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    return this.#with(options, (files) => files.open(path, options));
  }

  create(path: EnvironmentPath, options?: FileOptions): Promise<WritableStream<Uint8Array>> {
    return this.#with(options, (files) => files.create(path, options));
  }

  mkdir(path: EnvironmentPath, options?: OptionsOf<"mkdir">): Promise<void> {
    return this.#with(options, (files) => files.mkdir(path, options));
  }

  readDir(path: EnvironmentPath, options?: FileOptions): Promise<readonly DirectoryEntry[]> {
    return this.#with(options, (files) => files.readDir(path, options));
  }

  stat(path: EnvironmentPath, options?: FileOptions): Promise<FileInfo> {
    return this.#with(options, (files) => files.stat(path, options));
  }

  lstat(path: EnvironmentPath, options?: FileOptions): Promise<FileInfo> {
    return this.#with(options, (files) => files.lstat(path, options));
  }

  realPath(path: EnvironmentPath, options?: FileOptions): Promise<string> {
    return this.#with(options, (files) => files.realPath(path, options));
  }

  remove(path: EnvironmentPath, options?: OptionsOf<"remove">): Promise<void> {
    return this.#with(options, (files) => files.remove(path, options));
  }

  copy(
    from: EnvironmentPath,
    to: EnvironmentPath,
    options?: FileOptions & { readonly recursive?: boolean },
  ): Promise<void> {
    return this.#with(options, (files) => files.copy(from, to, options));
  }

  walk(path: EnvironmentPath, options?: OptionsOf<"walk">): Promise<Result<"fs/walk">> {
    return this.#with(options, (files) => files.walk(path, options));
  }

  async #with<T>(options: FileOptions | undefined, act: (files: Files) => Promise<T>): Promise<T> {
    let files: Files;
    try {
      ({ files } = await this.#client.get({ signal: options?.signal }));
    } catch (error) {
      throw fileError(error, null);
    }
    return await act(files);
  }
}
