/** Programs that judge files which cannot be run here. */

const CACHE = Deno.env.get("XDG_CACHE_HOME") || `${Deno.env.get("HOME") ?? ""}/.cache`;
const PROJECT = new URL("../../", import.meta.url).pathname;

/** Where a program is: on the PATH, or where `scripts/fetch_linters.sh` puts it; undefined if it is nowhere. */
export function findProgram(name: string): string | undefined {
  const places = [...(Deno.env.get("PATH") ?? "").split(":"), `${CACHE}/exec-server-linters`];
  return places.map((place) => `${place}/${name}`).find(isFile);
}

/** What a linter says of the project's files; empty if it has nothing to say. */
export async function findings(program: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd: PROJECT,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  if (code === 0) return "";
  const said = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("").trim();
  return said === "" ? `exit code ${code}` : said;
}

/** The project's files directly in a directory, by the end of their names. */
export function filesIn(directory: string, end: string): string[] {
  const names = [...Deno.readDirSync(PROJECT + directory)].map(({ name }) => name).filter((name) => name.endsWith(end));
  if (names.length === 0) throw new Error(`${directory} has no ${end}`);
  return names.sort().map((name) => `${directory}/${name}`);
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    throw error;
  }
}
