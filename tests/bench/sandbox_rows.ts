/** The rows of what is done in a sandbox: the agent's default one, a workspace that may be written in a machine that may be read. */
import type { Row } from "./rows.ts";

const MEDIAN = 0.5;

const same = (bound: number) => ({ ws: bound, stdio: bound });
const row = <Id extends string>(id: Id, title: string, bound: number) =>
  ({ id, title, unit: "ms", quantile: MEDIAN, target: same(bound) }) as const satisfies Row;

export const SANDBOX_ROWS = [
  row("sandbox-start", "sandboxed start → exited, `true`", 0.25),
  row("sandbox-start-unshare", "the same with `--sandbox unshare`", 0.6),
  row("sandbox-start-landlock", "the same with `--sandbox landlock`, all read only", 0.6),
  row("sandbox-metadata", "sandboxed getMetadata", 0.5),
  row("sandbox-read", "sandboxed readFile, 1 KB", 0.5),
  row("sandbox-write", "sandboxed writeFile, 1 KB", 0.5),
  row("sandbox-directory", "sandboxed readDirectory, 100 entries", 0.5),
] as const satisfies readonly Row[];
