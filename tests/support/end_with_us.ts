/**
 * Programs of the tests end with the tests. `deno task` ends one part of the tests with SIGTERM when another has failed,
 * and a server that listens would stay.
 */

/** Time for every thread of tests to pass the signal on, before all of them end. */
const GRACE_MS = 100;

const children = new Set<Deno.ChildProcess>();

if (Deno.build.os !== "windows") {
  Deno.addSignalListener("SIGTERM", () => {
    for (const child of children) end(child);
    // Deno.exit is refused while a test runs, and SIGTERM is caught.
    setTimeout(() => Deno.kill(Deno.pid, "SIGKILL"), GRACE_MS);
  });
}

/** The child itself. */
export function endWithUs(child: Deno.ChildProcess): Deno.ChildProcess {
  children.add(child);
  void child.status.then(() => children.delete(child));
  return child;
}

function end(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGTERM");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // it has ended by itself
  }
}
