import { Base64Error, decodeBase64 } from "../base64.ts";
import { returnBuffer } from "../buffer_pool.ts";
import { ExecError } from "../errors.ts";
import type { ConnectionFiles } from "../fs/connection_files.ts";
import type { FileRequests } from "../fs/file_requests.ts";
import type { FileContent } from "../fs/operations.ts";
import type { PolicyFiles } from "../fs/policy_files.ts";
import { checkWalkLimits } from "../fs/walk_limits.ts";
import { PathUri } from "../path_uri.ts";
import {
  checkPermissionPaths,
  confinesContents,
  confinesReading,
  confinesWriting,
  fileConfinement,
  type FileSandbox,
  nativePaths,
  requireCwd,
} from "../protocol/fs_sandbox.ts";
import type { Deeds } from "./local_calls.ts";

/** What works on this machine's files. */
export interface LocalFiles {
  readonly files: ConnectionFiles;
  readonly policyFiles: PolicyFiles;
  /** See {@linkcode confinesContents}. */
  readonly keepsSecrets: boolean;
}

/** `fs/*` on this machine's files, in the order of checks that a server has. */
export function fileDeeds(loaded: () => Promise<LocalFiles>): Deeds {
  return {
    "fs/readFile": async ({ path, followSymlinks, sandbox }) => {
      const files = readingContents(await loaded(), sandbox);
      const [native] = checked(sandbox, path);
      return { dataBase64: bytesOf(await files.readFile(native, followSymlinks)) };
    },
    "fs/open": async ({ handleId, path, mode, sandbox }) => {
      const files = (mode === "read" ? readingContents : writing)(await loaded(), sandbox);
      requireCwd(sandbox);
      await files.open(handleId, () => nativePaths(sandbox, path)[0], mode);
      return { handleId };
    },
    "fs/readBlock": async ({ handleId, offset, len }) => {
      const { bytes, eof } = await (await loaded()).files.readBlock(handleId, offset, len);
      return { chunk: owned(bytes), eof };
    },
    "fs/writeBlock": async ({ handleId, offset, chunk }) => {
      await (await loaded()).files.writeBlock(handleId, offset, chunk);
      return {};
    },
    "fs/close": async ({ handleId }) => {
      await (await loaded()).files.close(handleId);
      return {};
    },
    "fs/writeFile": async ({ path, dataBase64, followSymlinks, sandbox }) => {
      const files = writing(await loaded(), sandbox);
      requireCwd(sandbox);
      const bytes = decodeData(dataBase64);
      const [native] = nativePaths(sandbox, path);
      await files.writeFile(native, bytes, followSymlinks);
      return {};
    },
    "fs/createDirectory": async ({ path, recursive, followSymlinks, sandbox }) => {
      const files = writing(await loaded(), sandbox);
      const [native] = checked(sandbox, path);
      await files.createDirectory(native, { recursive, followSymlinks });
      return {};
    },
    "fs/getMetadata": async ({ path, followSymlinks, sandbox }) => {
      const files = reading(await loaded(), sandbox);
      const [native] = checked(sandbox, path);
      return await files.getMetadata(native, followSymlinks);
    },
    "fs/canonicalize": async ({ path, sandbox }) => {
      const files = reading(await loaded(), sandbox);
      const [native] = checked(sandbox, path);
      return { path: PathUri.fromNative(await files.canonicalize(native)) };
    },
    "fs/readDirectory": async ({ path, sandbox }) => {
      const files = reading(await loaded(), sandbox);
      const [native] = checked(sandbox, path);
      return { entries: await files.readDirectory(native) };
    },
    "fs/walk": async ({ path, options, sandbox }) => {
      const check = () => checkWalkLimits(options);
      const local = await loaded();
      requireCwd(sandbox);
      checkPermissionPaths(sandbox);
      const confined = confinesReading(sandbox);
      if (!confined) check();
      const files = confined ? within(local, sandbox, check) : local.files;
      return await files.walk(path.toNative(), { ...options, uri: path.text });
    },
    "fs/remove": async ({ path, recursive, force, followSymlinks, sandbox }) => {
      const files = writing(await loaded(), sandbox);
      const [native] = checked(sandbox, path);
      await files.remove(native, { recursive, force, followSymlinks });
      return {};
    },
    "fs/copy": async ({ sourcePath, destinationPath, recursive, sandbox }) => {
      const files = writing(await loaded(), sandbox);
      const [source, destination] = checked(sandbox, sourcePath, destinationPath);
      await files.copy(source, destination, recursive);
      return {};
    },
  };
}

function reading(local: LocalFiles, sandbox: FileSandbox | null): FileRequests {
  return confinesReading(sandbox) ? within(local, sandbox) : local.files;
}

function readingContents(local: LocalFiles, sandbox: FileSandbox | null): FileRequests {
  return confinesContents(sandbox, local.keepsSecrets) ? within(local, sandbox) : local.files;
}

function writing(local: LocalFiles, sandbox: FileSandbox | null): FileRequests {
  return confinesWriting(sandbox) ? within(local, sandbox) : local.files;
}

function within({ files, policyFiles }: LocalFiles, sandbox: FileSandbox, check?: () => void): FileRequests {
  return files.within(() => policyFiles.under(() => fileConfinement(sandbox), check));
}

function checked<U extends readonly PathUri[]>(sandbox: FileSandbox | null, ...uris: U) {
  requireCwd(sandbox);
  return nativePaths(sandbox, ...uris);
}

function decodeData(dataBase64: string): Uint8Array<ArrayBuffer> {
  try {
    return decodeBase64(dataBase64);
  } catch (error) {
    if (!(error instanceof Base64Error)) throw error;
    throw new ExecError("invalidRequest", `fs/writeFile requires valid base64 dataBase64: ${error.message}`);
  }
}

/** A multiple of four, so that each part is base64 by itself. */
const BASE64_PART = 4 * 1024 * 1024;
const PAD = "=".charCodeAt(0);

/** Large files have been read for the wire, in base64. */
function bytesOf(content: FileContent): Uint8Array<ArrayBuffer> {
  if (!("base64" in content)) return owned(content);
  const { base64 } = content;
  const decoder = new TextDecoder("latin1");
  const padding = base64.at(-2) === PAD ? 2 : base64.at(-1) === PAD ? 1 : 0;
  const bytes = new Uint8Array(base64.length / 4 * 3 - padding);
  let length = 0;
  for (let at = 0; at < base64.length; at += BASE64_PART) {
    const part = decodeBase64(decoder.decode(base64.subarray(at, at + BASE64_PART)));
    bytes.set(part, length);
    length += part.length;
  }
  return bytes;
}

/** Bytes in a buffer of their own: one of the pool's would hold what others read before. */
function owned(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = bytes.slice();
  returnBuffer(bytes);
  return copy;
}
