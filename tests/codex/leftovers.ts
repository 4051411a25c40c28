import { eventually } from "../program/eventually.ts";

/**
 * How long what has been ended may take to be gone, in milliseconds. A client in a hurry leaves without ending its
 * commands (seen now and then on a busy machine): the server then ends them 80 s after the end of the connection.
 */
const PATIENCE_MS = 100_000;

/** Processes whose working directory is `directory` or below it. */
export function processesBelow(directory: string): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    const cwd = Number.isInteger(pid) ? workingDirectory(pid) : null;
    return cwd !== null && (cwd === directory || cwd.startsWith(`${directory}/`));
  });
}

/**
 * Waits until no process works in `directory` or below it, and kills those that stay.
 *
 * @throws {Error} If one stayed.
 */
export async function allEnded(directory: string, patienceMs = PATIENCE_MS): Promise<void> {
  try {
    await eventually("no process is left", () => {
      const left = processesBelow(directory);
      if (left.length > 0) throw new Error(`still there: ${left.map(nameOf).join(", ")}`);
    }, patienceMs);
  } catch (error) {
    for (const pid of processesBelow(directory)) kill(pid);
    throw error;
  }
}

/** Null: it has ended, or belongs to somebody else. */
function workingDirectory(pid: number): string | null {
  try {
    return Deno.readLinkSync(`/proc/${pid}/cwd`);
  } catch (error) {
    return unlessGone(error, null);
  }
}

function nameOf(pid: number): string {
  try {
    return `${Deno.readTextFileSync(`/proc/${pid}/comm`).trim()} (${pid})`;
  } catch (error) {
    return unlessGone(error, `${pid}`);
  }
}

function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch (error) {
    unlessGone(error, undefined);
  }
}

function unlessGone<T>(error: unknown, otherwise: T): T {
  if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return otherwise;
  if (error instanceof Error && /os error 3\b/.test(error.message)) return otherwise; // ESRCH: it ended meanwhile
  throw error;
}
