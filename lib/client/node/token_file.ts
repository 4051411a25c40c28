/**
 * A token in a file, for the option `token` of a connection: read again before every attempt, blanks around it do not
 * count.
 *
 * @param path Only its owner should be able to read it.
 */
export function tokenFile(path: string | URL): () => Promise<string> {
  return async () => {
    const { readFile } = await import("node:fs/promises");
    return (await readFile(path, "utf8")).trim();
  };
}
