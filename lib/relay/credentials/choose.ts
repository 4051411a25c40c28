import { parseTrustedHost, trustedHostFlaw } from "../../trusted_host.ts";
import { type Credential, CredentialError } from "../credential.ts";
import type { CredentialWorld } from "./credential_world.ts";
import { bearerFile } from "./bearer_file.ts";
import { bearerLine } from "./bearer_line.ts";
import { chatGptToken } from "./chatgpt_token.ts";
import { environmentCredential } from "./environment_credential.ts";
import { executorCredential } from "./executor_credential.ts";

/** How the command line wants the registry to be shown who registers. */
export type CredentialChoice =
  /** `--registration-bearer-stdin` */
  | { readonly kind: "bearerLine" }
  /** `--registration-bearer-file` */
  | { readonly kind: "bearerFile"; readonly path: string }
  /** `--executor-credential-stdin` */
  | { readonly kind: "executorCredential" }
  /** `--chatgpt-token-stdin` */
  | { readonly kind: "chatGptToken"; readonly accountId?: string | undefined }
  /** `--use-agent-identity-auth`, or nothing: what the environment and its sign-in file hold. With `--trust-registry`. */
  | { readonly kind: "agentIdentity" | "environment"; readonly trusted: readonly string[] };

export type { CredentialWorld };

export interface ChosenCredential {
  readonly credential: Credential;
  /**
   * Where standard input is the life line: resolves at its end.
   *
   * @throws {CredentialError} It said something that it must not say.
   */
  readonly ended?: Promise<void>;
}

/** @throws {CredentialError} There is none, or not for this registry. Or the signal's reason. */
export async function chooseCredential(choice: CredentialChoice, world: CredentialWorld): Promise<ChosenCredential> {
  const { registry, stdin } = world;
  switch (choice.kind) {
    case "bearerLine":
      return { credential: await bearerLine(stdin) };
    case "bearerFile":
      return { credential: await bearerFile(choice.path) };
    case "executorCredential":
      return await executorCredential({ ...world, lines: stdin });
    case "chatGptToken":
      return { credential: await chatGptToken(stdin, registry, choice.accountId) };
    case "agentIdentity": {
      const { agentIdentity, AGENT_SERVICES } = await import("./agent_identity.ts");
      const token = world.env("CODEX_ACCESS_TOKEN");
      const trusted = trustedHosts(choice.trusted);
      const services = world.agentServices ?? AGENT_SERVICES;
      const credential = await agentIdentity({
        ...world,
        token,
        registryUrl: registry,
        trusted,
        network: world,
        services,
      });
      return { credential };
    }
    case "environment":
      return { credential: await environmentCredential(world, trustedHosts(choice.trusted)) };
  }
}

/** @throws {CredentialError} One of them is no host. */
function trustedHosts(texts: readonly string[]): string[] {
  return texts.map((text) => {
    const host = parseTrustedHost(text);
    if (host === undefined) throw new CredentialError(`--trust-registry ${text}: ${trustedHostFlaw(text)}`);
    return host;
  });
}
