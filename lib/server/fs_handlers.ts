/** `fs/*`: where names meet deeds. What carries them out is loaded with the first request. */

import { Base64Error, decodeBase64 } from "../base64.ts";
import { borrowBuffer, returnBuffer } from "../buffer_pool.ts";
import { ExecError } from "../errors.ts";
import type { ConnectionFiles } from "../fs/connection_files.ts";
import { checkWalkLimits } from "../fs/walk_limits.ts";
import type { FileContent, MaybePromise, NativePath } from "../fs/operations.ts";
import { PathUri } from "../path_uri.ts";
import { encodeMissingChanged, readBlockResult, readFileResult } from "../protocol/fs.ts";
import type { RequestName } from "../protocol/methods.ts";
import {
  confinesReading,
  confinesWriting,
  type FileSandbox,
  requireCwd,
  unconfinedPaths,
} from "../protocol/fs_sandbox.ts";
import { type CallContext, EncodedResult, type Handler } from "./handler.ts";
import { LargeResult } from "./large_result.ts";

type FsName = Extract<RequestName, `fs/${string}`>;
type FsHandlers = { readonly [M in FsName]: Handler<M> };

/** The files of a connection; a promise until what carries requests out has been loaded. */
export type FilesOf = (context: CallContext) => MaybePromise<ConnectionFiles>;

export function fsHandlers(filesOf: FilesOf): FsHandlers {
  return {
    "fs/readFile": ({ path, followSymlinks, sandbox }, context) =>
      then(filesOf(context), (files) => {
        const [native] = readable(sandbox, path);
        return then(files.readFile(native, followSymlinks), contentResult);
      }),
    "fs/open": ({ handleId, path, mode, sandbox }, context) =>
      then(filesOf(context), (files) => {
        requireCwd(sandbox);
        const locate = (): NativePath => {
          const [native] = mode === "read" ? readable(sandbox, path) : writable(sandbox, path);
          return native;
        };
        return then(files.open(handleId, locate, mode), () => ({ handleId }));
      }),
    "fs/readBlock": ({ handleId, offset, len }, context) =>
      then(
        filesOf(context),
        (files) =>
          then(files.readBlock(handleId, offset, len), ({ bytes, eof }) => {
            const json = readBlockResult.toJson({ chunk: bytes, eof });
            returnBuffer(bytes);
            return new EncodedResult(json);
          }),
      ),
    "fs/writeBlock": ({ handleId, offset, chunk }, context) =>
      then(filesOf(context), (files) =>
        then(files.writeBlock(handleId, offset, chunk), () => {
          returnBuffer(chunk);
          return {};
        })),
    "fs/close": ({ handleId }, context) => then(filesOf(context), (files) => then(files.close(handleId), nothing)),
    "fs/writeFile": ({ path, dataBase64, followSymlinks, sandbox }, context) =>
      then(filesOf(context), (files) => {
        requireCwd(sandbox);
        const bytes = decodeData(dataBase64);
        const [native] = writable(sandbox, path);
        return then(files.writeFile(native, bytes, followSymlinks), () => {
          returnBuffer(bytes);
          return {};
        });
      }),
    "fs/createDirectory": ({ path, recursive, followSymlinks, sandbox }, context) =>
      then(filesOf(context), (files) => {
        const [native] = writable(sandbox, path);
        return then(files.createDirectory(native, { recursive, followSymlinks }), nothing);
      }),
    "fs/getMetadata": ({ path, followSymlinks, sandbox }, context) =>
      then(filesOf(context), (files) => {
        const [native] = readable(sandbox, path);
        return files.getMetadata(native, followSymlinks);
      }),
    "fs/canonicalize": ({ path, sandbox }, context) =>
      then(filesOf(context), (files) => {
        const [native] = readable(sandbox, path);
        return then(files.canonicalize(native), (real) => ({ path: PathUri.fromNative(real) }));
      }),
    "fs/readDirectory": ({ path, sandbox }, context) =>
      then(filesOf(context), (files) => {
        const [native] = readable(sandbox, path);
        return then(files.readDirectory(native), (entries) => ({ entries }));
      }),
    "fs/walk": ({ path, options, sandbox }, context) =>
      then(filesOf(context), (files) => {
        requireCwd(sandbox);
        if (!confinesReading(sandbox)) checkWalkLimits(options);
        const [native] = readable(sandbox, path);
        return files.walk(native, { ...options, uri: path.text });
      }),
    "fs/remove": ({ path, recursive, force, followSymlinks, sandbox }, context) =>
      then(filesOf(context), (files) => {
        const [native] = writable(sandbox, path);
        return then(files.remove(native, { recursive, force, followSymlinks }), nothing);
      }),
    "fs/copy": ({ sourcePath, destinationPath, recursive, sandbox }, context) =>
      then(filesOf(context), (files) => {
        const [source, destination] = writable(sandbox, sourcePath, destinationPath);
        return then(files.copy(source, destination, recursive), nothing);
      }),
    "fs/watchMissing": ({ watchId, missing, present }, context) =>
      then(filesOf(context), (files) => {
        const local = nativePaths(present === null ? missing : [...missing, present]);
        const paths = local?.slice(0, missing.length) ?? [];
        const changed = () => context.connection.connection.send(encodeMissingChanged(watchId));
        const watching = files.watchMissing(watchId, paths, present === null ? null : local?.at(-1) ?? null, changed);
        return then(watching, (watching) => ({ watching }));
      }),
  };
}

/** Goes on at once if there is nothing to wait for. */
function then<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

const nothing = () => ({});

type Natives<U extends readonly PathUri[]> = { [I in keyof U]: NativePath };

function readable<U extends readonly PathUri[]>(sandbox: FileSandbox | null, ...uris: U): Natives<U> {
  requireCwd(sandbox);
  return unconfinedPaths(sandbox, confinesReading(sandbox), uris) as Natives<U>;
}

function writable<U extends readonly PathUri[]>(sandbox: FileSandbox | null, ...uris: U): Natives<U> {
  requireCwd(sandbox);
  return unconfinedPaths(sandbox, confinesWriting(sandbox), uris) as Natives<U>;
}

/** @throws {ExecError} `invalidRequest`, unlike other base64: this one is looked at only when the file is to be written. */
function decodeData(dataBase64: string): Uint8Array<ArrayBuffer> {
  try {
    return decodeBase64(dataBase64, borrowBuffer);
  } catch (error) {
    if (!(error instanceof Base64Error)) throw error;
    throw new ExecError("invalidRequest", `fs/writeFile requires valid base64 dataBase64: ${error.message}`);
  }
}

function contentResult(content: FileContent): LargeResult | EncodedResult {
  if ("base64" in content) return new LargeResult('{"dataBase64":"', content.base64, '"}');
  const json = readFileResult.toJson({ dataBase64: content });
  returnBuffer(content);
  return new EncodedResult(json);
}

/** Null: this machine cannot have all of these paths. */
function nativePaths(uris: readonly PathUri[]): NativePath[] | null {
  try {
    return uris.map((uri) => uri.toNative());
  } catch (error) {
    if (error instanceof ExecError) return null;
    throw error;
  }
}
