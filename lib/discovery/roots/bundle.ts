import { type DiscoveryFiles, fileErrorText, isNotFound, type Metadata } from "../files.ts";
import { decodeUtf8 } from "../text_file.ts";

/** A file with its text. */
export interface TextFile {
  /** As a URI. */
  readonly path: string;
  readonly contents: string;
}

/** Larger files are left out. Source: as the reference. */
const MAX_FILE_BYTES = 1_048_576;
/** When the files of a root have this many bytes together, further ones are left out. Source: as the reference. */
const MAX_BUNDLE_BYTES = 16 * 1_048_576;

/** The files of one root, within their budget. What cannot be had becomes a warning. */
export class Bundle {
  readonly warnings: string[] = [];
  readonly #files: DiscoveryFiles;
  #bytes = 0;

  constructor(files: DiscoveryFiles) {
    this.#files = files;
  }

  /** Null if there is no such file, it is none, or cannot be had; only the last is worth a warning. */
  async read(path: string): Promise<TextFile | null> {
    let metadata: Metadata;
    try {
      metadata = await this.#files.metadata(path);
    } catch (error) {
      return isNotFound(error)
        ? null
        : this.#warn(`failed to inspect capability file ${path}: ${fileErrorText(error)}`);
    }
    if (!metadata.isFile) return null;
    if (metadata.size > MAX_FILE_BYTES) {
      return this.#warn(`capability file ${path} exceeds the ${MAX_FILE_BYTES}-byte limit`);
    }
    if (this.#bytes + metadata.size > MAX_BUNDLE_BYTES) {
      return this.#warn(`capability root bundle exceeds the ${MAX_BUNDLE_BYTES}-byte limit`);
    }
    return await this.#readText(path, metadata.size);
  }

  async #readText(path: string, size: number): Promise<TextFile | null> {
    let bytes: Uint8Array<ArrayBuffer> | undefined;
    try {
      bytes = await this.#files.read(path, Math.min(MAX_FILE_BYTES, MAX_BUNDLE_BYTES - this.#bytes), size);
    } catch (error) {
      return this.#warn(`failed to read capability file ${path}: ${fileErrorText(error)}`);
    }
    // It has grown since it was looked at.
    if (bytes === undefined) return this.#warn(`capability file ${path} exceeded its read limit`);
    const decoded = decodeUtf8(bytes);
    if ("defect" in decoded) return this.#warn(`capability file ${path} is not UTF-8: ${decoded.defect}`);
    this.#bytes += bytes.length;
    return { path, contents: decoded.text };
  }

  #warn(warning: string): null {
    this.warnings.push(warning);
    return null;
  }
}
