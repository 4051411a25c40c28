import type { Clock } from "../../clock.ts";
import type { AgentServices } from "./agent_identity.ts";
import type { StdinLines } from "./stdin_lines.ts";

/** What a credential is made of. */
export interface CredentialWorld {
  readonly registry: string;
  /** As the registry knows it, without white space around it. */
  readonly environmentId: string;
  readonly env: (name: string) => string | undefined;
  readonly stdin: StdinLines;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Hears of what went wrong and does not end anything. Without secrets. */
  readonly warn: (message: string) => void;
  readonly signal: AbortSignal;
  /** For tests; the services of production by default. */
  readonly agentServices?: AgentServices;
}
