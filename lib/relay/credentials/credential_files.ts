import { authFilePath } from "./auth_file_path.ts";
import type { CredentialChoice } from "./choose.ts";

/** The files that a credential is read from, as they are named; they need not exist. */
export function credentialFiles(choice: CredentialChoice, env: (name: string) => string | undefined): string[] {
  switch (choice.kind) {
    case "bearerFile":
      return [choice.path];
    case "environment": {
      const path = env("CODEX_API_KEY")?.trim() ? undefined : authFilePath(env);
      return path === undefined ? [] : [path];
    }
    case "agentIdentity":
    case "bearerLine":
    case "executorCredential":
    case "chatGptToken":
      return [];
  }
}
