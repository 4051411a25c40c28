import { type Credential, headersDefect } from "../relay/credential.ts";
import { ClientError } from "./client_error.ts";
import type { RegistryHeaders, RelayCarrierOptions } from "./relay_options.ts";
import { tokenText } from "./token_text.ts";

const PREFIX = "environment registry configuration error";

/** How a harness shows a registry who it is. Whoever is asked for a token may take its time, as long as the attempt lasts. */
export function harnessCredential({ token, accountId, headers }: RelayCarrierOptions): Credential {
  return {
    async headers() {
      const all = {
        ...await ownHeaders(headers),
        ...(token === undefined ? {} : { authorization: `Bearer ${await tokenText(token, PREFIX)}` }),
        ...(accountId === undefined ? {} : { "chatgpt-account-id": accountId }),
      };
      const defect = headersDefect(all);
      if (defect !== undefined) throw new ClientError("configuration", `${PREFIX}: ${defect}`);
      return all;
    },
  };
}

/** @throws {ClientError} As for a token: whoever makes them may be caught in between. */
async function ownHeaders(headers: RelayCarrierOptions["headers"]): Promise<RegistryHeaders | undefined> {
  if (typeof headers !== "function") return headers;
  try {
    return await headers();
  } catch (error) {
    if (error instanceof ClientError) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    throw new ClientError("configuration", `${PREFIX}: cannot get the headers: ${detail}`, {
      cause: error,
      retryable: true,
    });
  }
}
