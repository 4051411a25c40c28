import { Base64Error, decodeBase64 } from "../base64.ts";
import { returnBuffer } from "../buffer_pool.ts";
import { ExecError } from "../errors.ts";
import type { ConnectionFiles } from "../fs/connection_files.ts";
import type { FileContent, NativePath } from "../fs/operations.ts";
import { checkWalkLimits } from "../fs/walk_limits.ts";
import { PathUri } from "../path_uri.ts";
import {
  confinesReading,
  confinesWriting,
  type FileSandbox,
  requireCwd,
  unconfinedPaths,
} from "../protocol/fs_sandbox.ts";
import type { Deeds } from "./local_calls.ts";

/** `fs/*` on this machine's files, in the order of checks that a server has. */
export function fileDeeds(loaded: () => Promise<ConnectionFiles>): Deeds {
  return {
    "fs/readFile": async ({ path, followSymlinks, sandbox }) => {
      const files = await loaded();
      return { dataBase64: bytesOf(await files.readFile(readable(sandbox, path), followSymlinks)) };
    },
    "fs/open": async ({ handleId, path, mode, sandbox }) => {
      const files = await loaded();
      requireCwd(sandbox);
      await files.open(handleId, () => mode === "read" ? readable(sandbox, path) : writable(sandbox, path), mode);
      return { handleId };
    },
    "fs/readBlock": async ({ handleId, offset, len }) => {
      const { bytes, eof } = await (await loaded()).readBlock(handleId, offset, len);
      return { chunk: owned(bytes), eof };
    },
    "fs/writeBlock": async ({ handleId, offset, chunk }) => {
      await (await loaded()).writeBlock(handleId, offset, chunk);
      return {};
    },
    "fs/close": async ({ handleId }) => {
      await (await loaded()).close(handleId);
      return {};
    },
    "fs/writeFile": async ({ path, dataBase64, followSymlinks, sandbox }) => {
      const files = await loaded();
      requireCwd(sandbox);
      const bytes = decodeData(dataBase64);
      await files.writeFile(writable(sandbox, path), bytes, followSymlinks);
      return {};
    },
    "fs/createDirectory": async ({ path, recursive, followSymlinks, sandbox }) => {
      await (await loaded()).createDirectory(writable(sandbox, path), { recursive, followSymlinks });
      return {};
    },
    "fs/getMetadata": async ({ path, followSymlinks, sandbox }) =>
      await (await loaded()).getMetadata(readable(sandbox, path), followSymlinks),
    "fs/canonicalize": async ({ path, sandbox }) => ({
      path: PathUri.fromNative(await (await loaded()).canonicalize(readable(sandbox, path))),
    }),
    "fs/readDirectory": async ({ path, sandbox }) => ({
      entries: await (await loaded()).readDirectory(readable(sandbox, path)),
    }),
    "fs/walk": async ({ path, options, sandbox }) => {
      const files = await loaded();
      requireCwd(sandbox);
      if (!confinesReading(sandbox)) checkWalkLimits(options);
      return await files.walk(readable(sandbox, path), { ...options, uri: path.text });
    },
    "fs/remove": async ({ path, recursive, force, followSymlinks, sandbox }) => {
      await (await loaded()).remove(writable(sandbox, path), { recursive, force, followSymlinks });
      return {};
    },
    "fs/copy": async ({ sourcePath, destinationPath, recursive, sandbox }) => {
      const files = await loaded();
      requireCwd(sandbox);
      const [source, destination] = unconfinedPaths(sandbox, confinesWriting(sandbox), [sourcePath, destinationPath]);
      await files.copy(source!, destination!, recursive);
      return {};
    },
  };
}

function readable(sandbox: FileSandbox | null, uri: PathUri): NativePath {
  requireCwd(sandbox);
  return unconfinedPaths(sandbox, confinesReading(sandbox), [uri])[0]!;
}

function writable(sandbox: FileSandbox | null, uri: PathUri): NativePath {
  requireCwd(sandbox);
  return unconfinedPaths(sandbox, confinesWriting(sandbox), [uri])[0]!;
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
