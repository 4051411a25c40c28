import type { LogLevel } from "../log.ts";
import type { AwsChoice, CredentialChoice } from "../server/remote_credential.ts";
import { EXIT_ON_STDIN_CLOSE } from "./exit_on_stdin_close.ts";

/** What remote mode and `forward` have in common. */
export interface RemoteOptions {
  /** As it was given. */
  readonly registry: string;
  readonly environmentId: string;
  /** How the registry is shown who registers; with AWS's signatures there is no relay. */
  readonly credential: CredentialChoice;
  readonly aws: AwsChoice | null;
  readonly exitOnStdinClose: boolean;
  readonly logLevel: LogLevel;
}

/** Options by their names; those that can be given several times have all their values in `all`. */
export interface Given {
  has(name: string): boolean;
  get(name: string): string | undefined;
  all(name: string): readonly string[];
}

/** An operator wants to see that there is a connection. */
const DEFAULT_LOG_LEVEL = "info";
const DEFAULT_SERVICE = "execute-api";

/** @param given Well-formed, and found to make sense. */
export function remoteOptions(given: Given): RemoteOptions {
  return {
    registry: given.get("--remote")!,
    environmentId: given.get("--environment-id")!,
    credential: credentialChoice(given),
    aws: given.has("--aws-sigv4") ? awsChoice(given) : null,
    exitOnStdinClose: given.has(EXIT_ON_STDIN_CLOSE),
    logLevel: (given.get("--log-level") ?? DEFAULT_LOG_LEVEL) as LogLevel,
  };
}

function awsChoice(given: Given): AwsChoice {
  return {
    profile: given.get("--aws-profile"),
    region: given.get("--aws-region"),
    service: given.get("--aws-service") ?? DEFAULT_SERVICE,
  };
}

function credentialChoice(given: Given): CredentialChoice {
  if (given.has("--registration-bearer-stdin")) return { kind: "bearerLine" };
  if (given.has("--executor-credential-stdin")) return { kind: "executorCredential" };
  if (given.has("--chatgpt-token-stdin")) return { kind: "chatGptToken", accountId: given.get("--chatgpt-account-id") };
  const path = given.get("--registration-bearer-file");
  if (path !== undefined) return { kind: "bearerFile", path };
  const trusted = given.all("--trust-registry");
  return { kind: given.has("--use-agent-identity-auth") ? "agentIdentity" : "environment", trusted };
}
