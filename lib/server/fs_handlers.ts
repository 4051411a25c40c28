/** `fs/*`: where names meet deeds. What carries them out is loaded with the first request. */

import { Base64Error, decodeBase64 } from "../base64.ts";
import { borrowBuffer, returnBuffer } from "../buffer_pool.ts";
import { ExecError } from "../errors.ts";
import type { ConnectionFiles } from "../fs/connection_files.ts";
import type { FileRequests } from "../fs/file_requests.ts";
import { checkWalkLimits } from "../fs/walk_limits.ts";
import type { FileContent, FileOperations, MaybePromise, NativePath } from "../fs/operations.ts";
import { PathUri } from "../path_uri.ts";
import { encodeMissingChanged, readBlockResult, readFileResult } from "../protocol/fs.ts";
import type { RequestName } from "../protocol/methods.ts";
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
import type { ProgramConfinement } from "../sandbox/confine_program.ts";
import { type CallContext, EncodedResult, type Handler } from "./handler.ts";
import { LargeResult } from "./large_result.ts";

type FsName = Extract<RequestName, `fs/${string}`>;
type FsHandlers = { readonly [M in FsName]: Handler<M> };

/** The files of a connection; a promise until what carries requests out has been loaded. */
export type FilesOf = (context: CallContext) => MaybePromise<ConnectionFiles>;

/** Operations that are confined; see {@linkcode PolicyFiles.under}. */
export type Confine = (demand: () => ProgramConfinement, check?: () => void) => MaybePromise<FileOperations>;

export interface FsHandlerOptions {
  readonly files: FilesOf;
  readonly confine: Confine;
  /** See {@linkcode confinesContents}. */
  readonly keepsSecrets: boolean;
}

export function fsHandlers({ files: filesOf, confine, keepsSecrets }: FsHandlerOptions): FsHandlers {
  const within = (files: ConnectionFiles, sandbox: FileSandbox, check?: () => void): FileRequests =>
    files.within(() => confine(() => fileConfinement(sandbox), check));
  const reading = (files: ConnectionFiles, sandbox: FileSandbox | null): FileRequests =>
    confinesReading(sandbox) ? within(files, sandbox) : files;
  const readingContents = (files: ConnectionFiles, sandbox: FileSandbox | null): FileRequests =>
    confinesContents(sandbox, keepsSecrets) ? within(files, sandbox) : files;
  const writing = (files: ConnectionFiles, sandbox: FileSandbox | null): FileRequests =>
    confinesWriting(sandbox) ? within(files, sandbox) : files;
  return {
    "fs/readFile": ({ path, followSymlinks, sandbox }, context) =>
      then(filesOf(context), (files) => {
        const [native] = checked(sandbox, path);
        return then(readingContents(files, sandbox).readFile(native, followSymlinks), contentResult);
      }),
    "fs/open": ({ handleId, path, mode, sandbox }, context) =>
      then(filesOf(context), (files) => {
        requireCwd(sandbox);
        const locate = (): NativePath => nativePaths(sandbox, path)[0];
        const requests = mode === "read" ? readingContents(files, sandbox) : writing(files, sandbox);
        return then(requests.open(handleId, locate, mode), () => ({ handleId }));
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
        const [native] = nativePaths(sandbox, path);
        return then(writing(files, sandbox).writeFile(native, bytes, followSymlinks), () => {
          returnBuffer(bytes);
          return {};
        });
      }),
    "fs/createDirectory": ({ path, recursive, followSymlinks, sandbox }, context) =>
      then(filesOf(context), (files) => {
        const [native] = checked(sandbox, path);
        return then(writing(files, sandbox).createDirectory(native, { recursive, followSymlinks }), nothing);
      }),
    "fs/getMetadata": ({ path, followSymlinks, sandbox }, context) =>
      then(filesOf(context), (files) => {
        const [native] = checked(sandbox, path);
        return reading(files, sandbox).getMetadata(native, followSymlinks);
      }),
    "fs/canonicalize": ({ path, sandbox }, context) =>
      then(filesOf(context), (files) => {
        const [native] = checked(sandbox, path);
        return then(reading(files, sandbox).canonicalize(native), (real) => ({ path: PathUri.fromNative(real) }));
      }),
    "fs/readDirectory": ({ path, sandbox }, context) =>
      then(filesOf(context), (files) => {
        const [native] = checked(sandbox, path);
        return then(reading(files, sandbox).readDirectory(native), (entries) => ({ entries }));
      }),
    "fs/walk": ({ path, options, sandbox }, context) =>
      then(filesOf(context), (files) => {
        requireCwd(sandbox);
        checkPermissionPaths(sandbox);
        const check = () => checkWalkLimits(options);
        const requests = confinesReading(sandbox) ? within(files, sandbox, check) : files;
        if (requests === files) check();
        return requests.walk(path.toNative(), { ...options, uri: path.text });
      }),
    "fs/remove": ({ path, recursive, force, followSymlinks, sandbox }, context) =>
      then(filesOf(context), (files) => {
        const [native] = checked(sandbox, path);
        return then(writing(files, sandbox).remove(native, { recursive, force, followSymlinks }), nothing);
      }),
    "fs/copy": ({ sourcePath, destinationPath, recursive, sandbox }, context) =>
      then(filesOf(context), (files) => {
        const [source, destination] = checked(sandbox, sourcePath, destinationPath);
        return then(writing(files, sandbox).copy(source, destination, recursive), nothing);
      }),
    "fs/watchMissing": ({ watchId, missing, present }, context) =>
      then(filesOf(context), (files) => {
        const local = possiblePaths(present === null ? missing : [...missing, present]);
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

function checked<U extends readonly PathUri[]>(sandbox: FileSandbox | null, ...uris: U) {
  requireCwd(sandbox);
  return nativePaths(sandbox, ...uris);
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
function possiblePaths(uris: readonly PathUri[]): NativePath[] | null {
  try {
    return uris.map((uri) => uri.toNative());
  } catch (error) {
    if (error instanceof ExecError) return null;
    throw error;
  }
}
