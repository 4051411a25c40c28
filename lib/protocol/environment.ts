/** What a server tells of its machine and of itself. */

import { boolean, type Codec, type Decoded, map, nullable, seq, string } from "../codec.ts";
import { toWellFormedJson } from "../json.ts";
import { defaulted, omittable, struct } from "../struct.ts";

export const shellInfo = struct("ShellInfo", {
  /** A short, stable name: `bash`, `zsh`, `sh`, `powershell`, `cmd`. */
  name: string,
  path: string,
});

const names = map(boolean);

/** What the server can do, by name; a name that is absent is false. Unknown names are kept. */
const capabilities: Codec<Readonly<Record<string, boolean>>> = {
  decode: (json, buffered) => Object.fromEntries(names.decode(json, buffered)),
  encode: (value) => value,
};

/** Directories are `file:` URIs. Servers before 0.100 or so sent little more than `shell`. */
const environmentInfoMembers = struct("EnvironmentInfo", {
  shell: shellInfo,
  /** The release of the reference whose wire the server speaks; `0.0.0` for servers that are too old to tell. */
  executorVersion: defaulted(string, "0.0.0"),
  /** Ours alone: what the server itself is. */
  serverInfo: omittable(struct("ServerInfo", { name: string, version: string })),
  /** The same for the same installation, machine and user. */
  providerId: omittable(string),
  cwd: defaulted(nullable(string), null),
  userHomeDir: omittable(string),
  /** `linux`, `macos` or `windows`. */
  platformOs: omittable(string),
  /** Directories that the server has put in front of its own PATH. */
  prependPathDirs: defaulted(seq(string), []),
  temporaryDirectories: omittable(seq(string)),
  tempDir: omittable(string),
  capabilities: defaulted(capabilities, {}),
});

export type EnvironmentInfo = Decoded<typeof environmentInfoMembers>;

/** A server's own info never changes, and every connection asks for it: its text is made once. */
const texts = new WeakMap<EnvironmentInfo, string>();

function environmentInfoJson(info: EnvironmentInfo): string {
  let text = texts.get(info);
  if (text === undefined) {
    text = toWellFormedJson(environmentInfoMembers.encode(info));
    texts.set(info, text);
  }
  return text;
}

export const environmentInfo = { ...environmentInfoMembers, toJson: environmentInfoJson };

export const environmentStatusResult = struct("EnvironmentStatus", { status: string });
