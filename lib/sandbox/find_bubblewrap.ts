import { type BubblewrapVersion, bubblewrapVersion } from "./bubblewrap_version.ts";
import { fromText, isAtOrBelow } from "./byte_path.ts";
import { existing } from "./own_files.ts";
import { realTree } from "./real_tree.ts";
import { runFile } from "./run_to_end.ts";
import type { BytePath } from "./policy.ts";

export interface Bubblewrap {
  /** No link leads there. */
  readonly path: BytePath;
  readonly version: BubblewrapVersion;
  /** It lies where only the administrator writes. */
  readonly isTheSystems: boolean;
}

/** Places that only the administrator writes to. */
const PLACES = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];
/** How long it may take to tell its version, in ms. */
const VERSION_MS = 5_000;
const WRITABLE_BY_OTHERS = 0o022;

/** What is asked of the machine. */
export interface BubblewrapHost {
  readonly searchPath: string | undefined;
  /** Where we work: what lies there may be anybody's. Undefined: the directory has been removed. */
  readonly cwd: string | undefined;
  /** Where only the administrator writes; replaced in tests. */
  readonly places?: readonly string[];
}

/** @returns The first one that will do; or why there is none, for people to read and without paths of theirs. */
export async function findBubblewrap(
  { searchPath, cwd, places = PLACES }: BubblewrapHost,
): Promise<Bubblewrap | string> {
  const searched = (searchPath ?? "").split(":").filter((directory) => directory.startsWith("/"));
  let reason = "it is not installed";
  const seen = new Set<BytePath>();
  for (const place of [...places, ...searched.map((directory) => `${directory}/bwrap`)]) {
    const [file] = existing(realTree, fromText(place));
    if (file?.found !== "file" || seen.has(file.path)) continue;
    seen.add(file.path);
    const fault = placeFault(place, file.path, cwd);
    const found = fault ?? await versionOf(place);
    if (typeof found !== "string") return { path: file.path, version: found, isTheSystems: places.includes(place) };
    reason = found;
  }
  return reason;
}

function placeFault(place: string, path: BytePath, cwd: string | undefined): string | undefined {
  if (cwd !== undefined && cwd !== "/" && isAtOrBelow(path, fromText(cwd))) {
    return "it lies below the server's working directory";
  }
  const { mode } = Deno.statSync(place);
  return (mode! & WRITABLE_BY_OTHERS) !== 0 ? "others may write to it" : undefined;
}

async function versionOf(file: string): Promise<BubblewrapVersion | string> {
  const signal = AbortSignal.timeout(VERSION_MS);
  const [version, help] = await Promise.all(["--version", "--help"].map((flag) => runFile(file, [flag], signal)));
  return bubblewrapVersion(version!.stdout, help!.stdout);
}
