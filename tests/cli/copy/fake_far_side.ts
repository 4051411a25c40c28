import type { Copying } from "../../../lib/cli/copy/copying.ts";
import { FarPrograms } from "../../../lib/cli/copy/far_programs.ts";
import { FarSide } from "../../../lib/cli/copy/far_side.ts";
import { CopyReport } from "../../../lib/cli/copy/report.ts";
import { noProgress } from "../../../lib/cli/progress.ts";
import type { Environment } from "../../../lib/client/environment.ts";
import type { Files } from "../../../lib/client/files.ts";
import type { CollectedOutput, RunOptions } from "../../../lib/client/process.ts";

type Info = Awaited<ReturnType<Environment["info"]>>;

/** A copy from a machine that answers just this; without `run` it has no programs. */
export function copyingFrom(
  files: Partial<Files>,
  run?: (options: RunOptions) => Partial<CollectedOutput>,
): Copying {
  const { signal } = new AbortController();
  const environment = {
    files,
    // deno-lint-ignore require-await -- what `run` throws is to be a rejection
    run: async (options: RunOptions) => ({ code: 0, signal: null, stdoutText: "", stderrText: "", ...run?.(options) }),
  };
  const far = new FarSide(
    environment as unknown as ConstructorParameters<typeof FarSide>[0],
    {
      platformOs: run === undefined ? "windows" : "linux",
      cwd: run === undefined ? "file:///C:/" : "file:///",
      tempDir: "file:///tmp",
    } as unknown as Info,
    signal,
  );
  return {
    far,
    programs: new FarPrograms(far),
    origin: "test",
    hasExtensions: false,
    progress: noProgress,
    report: new CopyReport(),
    signal,
  };
}
