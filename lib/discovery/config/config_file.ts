import { ExecError } from "../../errors.ts";
import { type DiscoveryFiles, fileErrorText, isNotFound } from "../files.ts";
import { decodeUtf8 } from "../text_file.ts";
import { readToml, TomlError } from "../../toml/read.ts";
import type { TomlTable } from "../../toml/value.ts";
import { displayPath } from "../uris.ts";

/**
 * A larger file is refused. Reading a document is one step in which nobody else is served: a second or so for a
 * file of this size, 10 ms for the two kilobytes of most.
 */
export const MAX_CONFIG_FILE_BYTES = 131_072;

/** A configuration that cannot be used, with the words that the other side is told after what was being done. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** How the failures of one kind of file are worded. */
export interface FailureWords {
  readonly read: (path: string, reason: string) => string;
  readonly parse: (path: string, error: TomlError, text: string) => string;
}

/**
 * The document in a file; undefined if there is no such file.
 *
 * @throws {ConfigError} If it cannot be read or breaks the rules of TOML.
 */
export async function readConfigFile(
  files: DiscoveryFiles,
  uri: string,
  words: FailureWords,
): Promise<TomlTable | undefined> {
  const text = await readConfigText(files, uri, words);
  if (text === undefined) return undefined;
  try {
    return readToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new ConfigError(words.parse(displayPath(uri), error, text), { cause: error });
  }
}

/**
 * The text of a file; undefined if there is no such file.
 *
 * @throws {ConfigError} If it cannot be read.
 */
export async function readConfigText(
  files: DiscoveryFiles,
  uri: string,
  words: FailureWords,
): Promise<string | undefined> {
  let bytes: Uint8Array | undefined;
  try {
    bytes = await files.read(uri, MAX_CONFIG_FILE_BYTES);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw new ConfigError(words.read(displayPath(uri), fileErrorText(error)), { cause: error });
  }
  if (bytes === undefined) {
    throw new ConfigError(
      words.read(displayPath(uri), `file is too large to read: limit is ${MAX_CONFIG_FILE_BYTES} bytes`),
    );
  }
  const decoded = decodeUtf8(bytes);
  if ("text" in decoded) return decoded.text;
  throw new ConfigError(words.read(displayPath(uri), decoded.defect));
}

/** The place of a defect after the name of the file. */
export function placeOf(path: string, error: TomlError): string {
  return `${path}:${error.line}:${error.column}: ${error.reason}`;
}

/** The place of a defect with the line in which it is. */
export function excerptOf({ line, column, reason }: TomlError, text: string): string {
  const margin = " ".repeat(String(line).length);
  const shown = text.split("\n")[line - 1] ?? "";
  return `TOML parse error at line ${line}, column ${column}\n${margin} |\n${line} | ${shown}\n` +
    `${margin} | ${" ".repeat(column - 1)}^\n${reason}\n`;
}

/** As an answer to a request. */
export function loadingFailed(error: ConfigError): ExecError {
  return new ExecError("internal", `failed to load executor-local config: ${error.message}`, { cause: error });
}
