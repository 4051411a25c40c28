import { FileError } from "../../client/file_error.ts";
import { CopyError } from "./target.ts";

/**
 * Does something with a path of the other side; what goes wrong is told with the path, which the server's words lack.
 *
 * @param shown The path for people.
 * @throws {CopyError} For a {@linkcode FileError}; all else passes.
 */
export async function naming<T>(shown: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof FileError) throw new CopyError(`${shown}: ${error.message}`, { cause: error });
    throw error;
  }
}
