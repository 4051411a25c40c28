import { toPathUri } from "../../client/environment_path.ts";
import type { Environment } from "../../client/environment.ts";
import { FileError } from "../../client/file_error.ts";
import type { FileInfo } from "../../client/files.ts";
import { childUri, parentUri, shownPath, withoutSlash } from "./remote_path.ts";
import type { Kind, Side } from "./target.ts";

type EnvironmentInfo = Awaited<ReturnType<Environment["info"]>>;

/** The environment's machine. Paths are URIs, which {@linkcode FarSide.uri} makes of what the user writes. */
export class FarSide implements Side {
  readonly environment: Pick<Environment, "files" | "run" | "start">;
  readonly info: EnvironmentInfo;
  /** What is still waited for once we are to end is given up when this is aborted. */
  readonly over: AbortSignal;
  readonly #signal: AbortSignal;

  constructor(
    environment: Pick<Environment, "files" | "run" | "start">,
    info: EnvironmentInfo,
    signal: AbortSignal,
    over: AbortSignal = signal,
  ) {
    [this.environment, this.info, this.#signal, this.over] = [environment, info, signal, over];
  }

  /** @throws {TypeError} If it can be no path of that machine. */
  uri(path: string): string {
    return withoutSlash(toPathUri(path, this.info).text);
  }

  /** @returns Undefined if nothing is there; links are followed. */
  async stat(uri: string): Promise<FileInfo | undefined> {
    try {
      return await this.environment.files.stat(uri, { signal: this.#signal });
    } catch (error) {
      if (error instanceof FileError && error.kind === "NotFound") return undefined;
      throw error;
    }
  }

  async kind(uri: string): Promise<Kind> {
    const found = await this.stat(uri);
    if (found !== undefined) return found.isDirectory ? "directory" : found.isFile ? "file" : "special";
    try {
      await this.environment.files.lstat(uri, { signal: this.#signal });
      return "danglingLink";
    } catch (error) {
      if (error instanceof FileError && error.kind === "NotFound") return "missing";
      throw error;
    }
  }

  child(directory: string, name: string): string {
    return childUri(directory, name);
  }

  parent(uri: string): string {
    return parentUri(uri);
  }

  shown(uri: string): string {
    return `env:${shownPath(uri)}`;
  }
}
