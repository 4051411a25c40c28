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
  /** The server's own working directory, absolute. */
  readonly cwd: string;
}

/** The user's home directory as a URI, if it is an absolute path. */
export function userHomeUri({ home }: DiscoveryHost): string | null {
  return home?.startsWith("/") ? uriOfPath(home) : null;
}

/**
 * The directory with everything of Codex as a URI: `CODEX_HOME` without symlinks, else `.codex` in the home directory,
 * whether it exists or not.
 *
 * @throws {ExecError} `internal` if `CODEX_HOME` is no directory, or there is not even a home directory.
 */
export async function codexHomeUri(host: DiscoveryHost, files: DiscoveryFiles): Promise<string> {
  const { home, codexHome } = host;
  const cwd = uriOfPath(host.cwd);
  if (codexHome === null || codexHome === "") {
    if (home === null) throw lost("Could not find home directory");
    return uriOfPath(`${home}/.codex`, cwd);
  }
  const uri = uriOfPath(codexHome, cwd);
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

function lost(reason: string): ExecError {
  return new ExecError("internal", reason);
}
