/** `fs/*`: parameters and results. */

import { encodeBase64 } from "../base64.ts";
import {
  base64,
  boolean,
  type Decoded,
  enumeration,
  exactU64,
  i64,
  identifier,
  nullAs,
  pathUri,
  pooledBase64,
  seq,
  string,
  u64,
  usize,
} from "../codec.ts";
import { toWellFormedJson } from "../json.ts";
import { defaulted, type Field, optional, optionalOr, struct } from "../struct.ts";
import { sandboxContext } from "./sandbox.ts";

const sandbox = optional(sandboxContext);
/** Sent only when it says something: the reference leaves it out otherwise. */
const followSymlinks: Field<boolean> = {
  ...defaulted(nullAs(boolean, true), true),
  encode: (follow) => follow ? undefined : false,
};

export const readFileParams = struct("WireFsReadFileParams", { path: pathUri, followSymlinks, sandbox });
export const readFileResult = {
  ...struct("FsReadFileResponse", { dataBase64: base64 }),
  /** Joined by hand: base64 needs no escapes. */
  toJson: ({ dataBase64 }: { dataBase64: Uint8Array<ArrayBuffer> }) => `{"dataBase64":"${encodeBase64(dataBase64)}"}`,
};

export const openParams = struct("WireFsOpenParams", {
  /** Chosen by the client; at most 32 bytes. */
  handleId: identifier,
  path: pathUri,
  mode: defaulted(enumeration(["read", "replace"]), "read"),
  sandbox,
});
export const openResult = struct("FsOpenResponse", { handleId: string });

export const readBlockParams = struct("FsReadBlockParams", { handleId: string, offset: exactU64, len: usize });
export const readBlockResult = {
  ...struct("FsReadBlockResponse", { chunk: base64, eof: boolean }),
  /** As above. */
  toJson: ({ chunk, eof }: { chunk: Uint8Array<ArrayBuffer>; eof: boolean }) =>
    `{"chunk":"${encodeBase64(chunk)}","eof":${eof}}`,
};

export const writeBlockParams = struct("FsWriteBlockParams", {
  handleId: string,
  offset: exactU64,
  chunk: pooledBase64,
});

export const closeParams = struct("FsCloseParams", { handleId: string });

/** `dataBase64` stays text: its defects are reported after the handshake, in words of this method's own. */
export const writeFileParams = struct("WireFsWriteFileParams", {
  path: pathUri,
  dataBase64: string,
  followSymlinks,
  sandbox,
});

export const createDirectoryParams = struct("WireFsCreateDirectoryParams", {
  path: pathUri,
  recursive: optionalOr(boolean, true),
  followSymlinks,
  sandbox,
});

export const getMetadataParams = struct("WireFsGetMetadataParams", { path: pathUri, followSymlinks, sandbox });
export const getMetadataResult = struct("FsGetMetadataResponse", {
  isDirectory: boolean,
  isFile: boolean,
  isSymlink: boolean,
  size: u64,
  createdAtMs: i64,
  modifiedAtMs: i64,
});

export const canonicalizeParams = struct("WireFsCanonicalizeParams", { path: pathUri, sandbox });
export const canonicalizeResult = struct("FsCanonicalizeResponse", { path: string });

export const readDirectoryParams = struct("WireFsReadDirectoryParams", { path: pathUri, sandbox });
const readDirectoryResultMembers = struct("FsReadDirectoryResponse", {
  entries: seq(struct("FsReadDirectoryEntry", { fileName: string, isDirectory: boolean, isFile: boolean })),
});
export const readDirectoryResult = {
  ...readDirectoryResultMembers,
  /** Joined by hand: there may be tens of thousands. File names were made from bytes and hold no lone surrogates. */
  toJson({ entries }: Decoded<typeof readDirectoryResultMembers>): string {
    const items = entries.map(({ fileName, isDirectory, isFile }) =>
      `{"fileName":${JSON.stringify(fileName)},"isDirectory":${isDirectory},"isFile":${isFile}}`
    );
    return `{"entries":[${items.join()}]}`;
  },
};

export const walkParams = struct("WireFsWalkParams", {
  path: pathUri,
  options: struct("WalkOptions", {
    maxDepth: usize,
    maxDirectories: usize,
    maxEntries: usize,
    followDirectorySymlinks: boolean,
    pruneHiddenDirectories: defaulted(boolean, false),
  }),
  sandbox,
});
const walkResultMembers = struct("FsWalkResponse", {
  entries: seq(struct("WalkEntry", { path: string, kind: enumeration(["file", "directory"]) })),
  errors: seq(struct("WalkError", { path: string, message: string })),
  truncated: boolean,
});
export const walkResult = {
  ...walkResultMembers,
  /** As above. Paths are URIs: nothing in them needs an escape. */
  toJson({ entries, errors, truncated }: Decoded<typeof walkResultMembers>): string {
    const found = entries.map(({ path, kind }) => `{"path":"${path}","kind":"${kind}"}`);
    return `{"entries":[${found.join()}],"errors":${toWellFormedJson(errors)},"truncated":${truncated}}`;
  },
};

export const removeParams = struct("WireFsRemoveParams", {
  path: pathUri,
  recursive: optionalOr(boolean, true),
  force: optionalOr(boolean, true),
  followSymlinks,
  sandbox,
});

export const copyParams = struct("WireFsCopyParams", {
  sourcePath: pathUri,
  destinationPath: pathUri,
  recursive: boolean,
  sandbox,
});

export const watchMissingParams = struct("FsWatchMissingParams", {
  /** Higher than every id before it on this connection. */
  watchId: exactU64,
  missing: seq(pathUri),
  present: optional(pathUri),
});
export const watchMissingResult = struct("FsWatchMissingResponse", { watching: boolean });
export const missingChanged = struct("FsMissingChangedNotification", { watchId: exactU64 });

/** The notification as a whole message. */
export function encodeMissingChanged(watchId: bigint): string {
  return `{"method":"fs/missingChanged","params":{"watchId":${watchId}}}`;
}
