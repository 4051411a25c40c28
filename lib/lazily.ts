import { ExecError } from "./errors.ts";

/** As many as the runtime may have open at once while it loads the modules of one family of methods. */
const NEEDED_DESCRIPTORS = 40;

/**
 * Modules that are loaded when they are first needed, if the system has room for their files then. Without descriptors the
 * runtime does not fail to load them: it panics, which ends the server and every program with it (measured on Deno 2.9.6).
 *
 * @param load Imports them. Called once, or again after it has failed.
 * @returns Gives what was loaded; rejects with an `ExecError`, in the words of a file operation that finds no descriptor.
 */
export function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  const begin = async (): Promise<T> => {
    if (Deno.build.os !== "windows") checkRoom();
    return await load();
  };
  const failed = (error: unknown): never => {
    loading = undefined;
    throw error;
  };
  return () => loading ??= begin().catch(failed);
}

function checkRoom(): void {
  using opened = new DisposableStack();
  try {
    for (let count = 0; count < NEEDED_DESCRIPTORS; count++) opened.use(Deno.openSync("/"));
  } catch (error) {
    // A root that cannot be read tells nothing of descriptors.
    if (!(error instanceof Error && /\(os error 2[34]\)/.test(error.message))) return;
    throw new ExecError("internal", "No file descriptors available (os error 24)", { cause: error });
  }
}
