import type { EnvironmentInfo } from "../protocol/environment.ts";
import type { CallOptions } from "./calls.ts";
import type { Fetch } from "./fetch.ts";
import type { Files } from "./files.ts";
import type { CollectedOutput, ExecProcess, RunOptions, StartOptions } from "./process.ts";

/** Whether an environment can be used now, found out without waking anything up. */
export type EnvironmentStatus =
  | { readonly state: "ready" }
  /** No attempt to connect has ended yet. */
  | { readonly state: "pending" }
  | { readonly state: "disconnected"; readonly error: string };

/**
 * A place where programs run, files are kept and HTTP requests begin: behind a server, or this process's own machine.
 * A harness is written once against this interface.
 */
export interface Environment extends AsyncDisposable {
  /** `local`, or the name under which it was configured. */
  readonly id: string;
  /** What the machine is and what the server can do; asked once. */
  info(options?: CallOptions): Promise<EnvironmentInfo>;
  status(options?: CallOptions): Promise<EnvironmentStatus>;
  /** Starts a program. Leaving the scope of the process (`await using`) ends it. */
  start(options: StartOptions): Promise<ExecProcess>;
  /** Starts a program, waits for its end and gives what it wrote. */
  run(options: RunOptions): Promise<CollectedOutput>;
  readonly files: Files;
  /** As the web's `fetch`, sent from the environment's machine. */
  readonly fetch: Fetch;
}
