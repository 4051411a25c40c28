import type { Environment } from "../client/environment.ts";
import type { ExecClient } from "../client/client.ts";
import type { ExecProcess } from "../client/process.ts";

/** A process of a session, running or still remembered. */
export type ProcessSummary = Awaited<ReturnType<ExecClient["processes"]>>[number];

/** What the commands need of a client. Tests have one of their own. */
export interface Client extends Environment {
  /** The key to the session, for whoever resumes it. */
  readonly sessionId: string;
  /** `recovering`: the link is lost, and it is tried to get it back. `failed`: it will not come back. */
  readonly state: "connected" | "recovering" | "failed";
  /** A process of the session that an earlier client started. */
  attach(processId: string): Promise<ExecProcess>;
  /** Whether the server announces our extensions. */
  hasExtensions(): Promise<boolean>;
  /** The processes of the session. An extension. */
  processes(): Promise<readonly ProcessSummary[]>;
  /** How long the session lives without us, in milliseconds. An extension. @returns What was granted. */
  lease(durationMs: number): Promise<number>;
}
