/**
 * Calls for files that run on other threads at once. The runtime has 32 of them (runtime/tokio_util.rs of Deno 2.9.6), which
 * everything shares that waits: those who listen to programs must have theirs, however many disks do not answer.
 */
const MAX_CALLS = 24;

let running = 0;
/** As many as requests are under way. */
const waiting: (() => void)[] = [];

let staysHere = false;

/**
 * From now on no call of this program is made on another thread: what its own thread sees and may do is not what others
 * see and may.
 */
export function stayOnThisThread(): void {
  staysHere = true;
}

export function isStaying(): boolean {
  return staysHere;
}

/**
 * Makes a call that uses one thread of the runtime's pool, when fewer than 24 do; in the order in which they were asked for.
 *
 * @param call Promises its result.
 */
export async function inBackground<T>(call: () => Promise<T>): Promise<T> {
  if (staysHere) throw new Error("this program makes no calls on other threads");
  if (running < MAX_CALLS) running++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await call();
  } finally {
    // Whoever comes next gets the place directly, so that nobody overtakes it.
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}
