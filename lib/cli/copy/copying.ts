import type { Progress } from "../progress.ts";
import type { FarPrograms } from "./far_programs.ts";
import type { FarSide } from "./far_side.ts";
import type { CopyReport } from "./report.ts";

/** What every part of one `cp` shares. */
export interface Copying {
  readonly far: FarSide;
  readonly programs: FarPrograms;
  /** Tells apart machines whose files may have the same names. */
  readonly origin: string;
  /** Whether the server announces our extensions. */
  readonly hasExtensions: boolean;
  readonly progress: Progress;
  readonly report: CopyReport;
  /** The user wants to end. */
  readonly signal: AbortSignal;
}
