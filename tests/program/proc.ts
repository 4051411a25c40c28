/** What Linux tells about processes below `/proc`: enough to see whether one left something behind. */

/** Resident memory in bytes. */
export function residentBytes(pid: number): number {
  return Number(statusField(pid, "VmRSS").split(" ")[0]) * 1024;
}

export function threadCount(pid: number): number {
  return Number(statusField(pid, "Threads"));
}

/** How many descriptors of each kind a process holds; a kind is what `/proc` calls it. */
export function descriptors(pid: number): Record<string, number> {
  const kinds = [...Deno.readDirSync(`/proc/${pid}/fd`)].map(({ name }) => kindOfDescriptor(pid, name)).sort();
  const counts: Record<string, number> = {};
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** The numbers of pipes, sockets and the like differ from one to the next; their kind does not. */
function kindOfDescriptor(pid: number, name: string): string {
  try {
    return Deno.readLinkSync(`/proc/${pid}/fd/${name}`).replace(/\[?\d+\]?$/, "");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "closed meanwhile";
    throw error;
  }
}

/** Bytes that a process has handed to `write` and the like since it began; it counts pipes and terminals as well. */
export function writtenBytes(pid: number): number {
  return Number(Deno.readTextFileSync(`/proc/${pid}/io`).match(/^wchar: (\d+)$/m)![1]);
}

/** Children of `pid` that ended and were not waited for. */
export function zombies(pid: number): number[] {
  return processes().filter((candidate) => {
    const stat = statOf(candidate);
    return stat !== null && stat.parent === pid && stat.state === "Z";
  });
}

/** Processes, whoever their parent or group is, whose environment holds `mark`. Zombies have none any more. */
export function marked(mark: string): number[] {
  return processes().filter((pid) => read(`/proc/${pid}/environ`)?.includes(mark) ?? false);
}

function processes(): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => Number.isInteger(pid));
}

/** Null: there is no such process. */
function statOf(pid: number): { state: string; parent: number } | null {
  const text = read(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name, in parentheses, may hold blanks and parentheses itself.
  const [state, parent] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { state: state!, parent: Number(parent) };
}

function statusField(pid: number, name: string): string {
  const line = Deno.readTextFileSync(`/proc/${pid}/status`).split("\n").find((each) => each.startsWith(`${name}:`));
  if (line === undefined) throw new Error(`/proc/${pid}/status has no ${name}`);
  return line.slice(name.length + 1).trim();
}

/** Null: the process is gone, or belongs to somebody else. */
function read(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return null;
    if (error instanceof Error && /os error 3\b/.test(error.message)) return null; // ESRCH: it ended while we read
    throw error;
  }
}
