/** Whose files are discovered. */

import { quoteText } from "../decode_text.ts";
import { ExecError } from "../errors.ts";
import { type DiscoveryFiles, fileErrorText, isNotFound, type Metadata } from "./files.ts";
import { uriOfPath } from "./uris.ts";

/** Paths and names as the server found them. Paths are native. */
export interface DiscoveryHost {
  /** The user's home directory; null if nobody knows it. It need neither be absolute nor exist. */
  readonly home: string | null;
  /** `CODEX_HOME`; null or empty: `.codex` in the home directory. */
  readonly codexHome: string | null;
  readonly hostname: string | null;
  /** Where the files for all users of the machine are, absolute. */
  readonly systemConfigDir: string;
  /** The server's own working directory, absolute; null: it has been removed. */
  readonly cwd: string | null;
}

/** The user's home directory as a URI, if it is an absolute path. */
export function userHomeUri({ home }: DiscoveryHost): string | null {
  return home?.startsWith("/") ? uriOfPath(home) : null;
}

/**
 * The directory with everything of Codex as a URI: `CODEX_HOME` without symlinks, else `.codex` in the home directory,
 * whether it exists or not.
 *
 * @throws {ExecError} `internal` if `CODEX_HOME` is no directory, there is not even a home directory, or they are relative
 * to nothing.
 */
export async function codexHomeUri(host: DiscoveryHost, files: DiscoveryFiles): Promise<string> {
  const { home, codexHome } = host;
  if (codexHome === null || codexHome === "") {
    if (home === null) throw lost("Could not find home directory");
    return absolute(`${home}/.codex`, host);
  }
  const uri = absolute(codexHome, host);
  const shown = quoteText(codexHome);
  let metadata: Metadata;
  try {
    metadata = await files.metadata(uri);
  } catch (error) {
    if (isNotFound(error)) throw lost(`CODEX_HOME points to ${shown}, but that path does not exist`);
    throw lost(`failed to read CODEX_HOME ${shown}: ${fileErrorText(error)}`);
  }
  if (!metadata.isDirectory) throw lost(`CODEX_HOME points to ${shown}, but that path is not a directory`);
  try {
    return await files.canonical(uri);
  } catch (error) {
    throw lost(`failed to canonicalize CODEX_HOME ${shown}: ${fileErrorText(error)}`);
  }
}

function absolute(path: string, { cwd }: DiscoveryHost): string {
  if (cwd !== null) return uriOfPath(path, uriOfPath(cwd));
  if (path.startsWith("/")) return uriOfPath(path);
  throw lost(`${quoteText(path)} is relative, and the server's working directory has been removed`);
}

function lost(reason: string): ExecError {
  return new ExecError("internal", reason);
}
