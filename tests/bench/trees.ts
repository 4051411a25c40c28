/** Big directories and trees: how long they take, and what a second client notices meanwhile. */
import { timesOfGuest } from "./guest.ts";
import { Bed, type Plan, sides } from "./plan.ts";
import type { RowId } from "./rows.ts";
import { Scratch } from "./scratch.ts";

/** How often each of the quicker operations is measured in one turn. */
const REPETITIONS = 3;
/** How many walks a second client sees in one turn: one alone is over after few of its requests. */
const WALKS = 5;
const CHILDREN_PER_DIRECTORY = 100;
const TREE_ROWS = ["read-directory", "walk", "second-walk-p90", "second-copy-p90", "second-remove-p90"] as const;

export async function measureTrees(plan: Plan): Promise<void> {
  if (!TREE_ROWS.some((row) => plan.wants(row))) return;
  const { turns, directoryEntries, treeEntries } = plan.files;
  await using scratch = await Scratch.make();
  plan.progress(`making directories with ${directoryEntries} and ${2 * treeEntries} entries`);
  await Deno.mkdir(scratch.path("d"));
  for (let index = 0; index < directoryEntries; index++) Deno.writeTextFileSync(scratch.path(`d/${index}`), "");
  const listed = makeTree(scratch.path("w"), treeEntries, "with links");
  makeTree(scratch.path("files"), treeEntries, "files");
  for (const carrier of plan.carriers) {
    for (let turn = 0; turn < turns; turn++) {
      for (const [side, command] of sides(plan)) {
        plan.progress(`directories over ${carrier}, ${side}, ${turn + 1} of ${turns}`);
        await using bed = await Bed.make(side, command, carrier);
        await measureListings(plan, bed, scratch, listed);
        if (carrier === "ws") await measureGuests(plan, bed, scratch, listed);
      }
    }
  }
}

async function measureListings(plan: Plan, bed: Bed, scratch: Scratch, listed: number): Promise<void> {
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    if (plan.wants("read-directory")) {
      await record(plan, bed, "read-directory", () => readDirectory(plan, bed, scratch));
    }
    if (plan.wants("walk")) await record(plan, bed, "walk", () => walk(bed, scratch, listed));
  }
}

async function record(plan: Plan, bed: Bed, row: RowId, work: () => Promise<void>): Promise<void> {
  const began = performance.now();
  await work();
  plan.samples.add(row, bed.carrier, bed.side, performance.now() - began);
}

/** The tree is copied and removed again. */
async function measureGuests(plan: Plan, bed: Bed, scratch: Scratch, listed: number): Promise<void> {
  const measure = async (row: RowId, busy: () => Promise<unknown>) => {
    if (!plan.wants(row)) return void await busy();
    const times = await timesOfGuest(bed.server.url, async () => void await busy());
    for (const ms of times) plan.samples.add(row, "ws", bed.side, ms);
  };
  if (plan.wants("second-walk-p90")) {
    await measure("second-walk-p90", async () => {
      for (let count = 0; count < WALKS; count++) await walk(bed, scratch, listed);
    });
  }
  if (!plan.wants("second-copy-p90") && !plan.wants("second-remove-p90")) return;
  const copy = { sourcePath: scratch.uri("files"), destinationPath: scratch.uri("copy"), recursive: true };
  await measure("second-copy-p90", () => bed.client.request("fs/copy", copy));
  const remove = { path: scratch.uri("copy"), recursive: true, force: false };
  await measure("second-remove-p90", () => bed.client.request("fs/remove", remove));
}

async function readDirectory(plan: Plan, { client }: Bed, scratch: Scratch): Promise<void> {
  const { entries } = await client.request<{ entries: unknown[] }>("fs/readDirectory", { path: scratch.uri("d") });
  if (entries.length !== plan.files.directoryEntries) throw new Error(`${entries.length} entries in the directory`);
}

async function walk({ client }: Bed, scratch: Scratch, listed: number): Promise<void> {
  const options = { maxDepth: 64, maxDirectories: 10_000, maxEntries: 50_000, followDirectorySymlinks: false };
  const params = { path: scratch.uri("w"), options };
  const { entries, truncated } = await client.request<{ entries: unknown[]; truncated: boolean }>("fs/walk", params);
  if (truncated || entries.length !== listed) throw new Error(`${entries.length} entries of ${listed} in the walk`);
}

/**
 * A tree of directories with a hundred children each.
 *
 * @param kind `with links`: two of five are symbolic links, which a walk looks at and does not list. Of so many entries
 * it could not list all: an answer has room for about 35 000 (4 MiB, the path and 64 bytes for each).
 * @returns How many entries a walk lists.
 */
function makeTree(path: string, entries: number, kind: "files" | "with links"): number {
  Deno.mkdirSync(path);
  const directories = Math.ceil(entries / (CHILDREN_PER_DIRECTORY + 1));
  let listed = directories;
  for (let count = directories; count < entries; count++) {
    const directory = `${path}/${count % directories}`;
    if (count < 2 * directories) Deno.mkdirSync(directory);
    const isLink = kind === "with links" && count / directories % 5 < 2;
    if (isLink) Deno.symlinkSync("nowhere", `${directory}/${count}`);
    else Deno.writeTextFileSync(`${directory}/${count}`, "0123456789");
    if (!isLink) listed++;
  }
  return listed;
}
