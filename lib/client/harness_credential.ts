import type { Credential } from "../relay/credential.ts";
import { abortable } from "./abortable.ts";
import { ClientError } from "./client_error.ts";
import type { RegistryHeaders, RelayCarrierOptions } from "./relay_options.ts";
import { type Token, tokenText } from "./token_text.ts";

const PREFIX = "environment registry configuration error";

/** How a harness shows a registry who it is. Whoever is asked for a token may take its time, as long as the attempt lasts. */
export function harnessCredential({ token, accountId, headers }: RelayCarrierOptions): Credential {
  return {
    headers: (signal) => abortable(headersOf(token, accountId, headers), signal),
  };
}

async function headersOf(
  token: Token | undefined,
  accountId: string | undefined,
  headers: RelayCarrierOptions["headers"],
): Promise<RegistryHeaders> {
  return checked({
    ...typeof headers === "function" ? await headers() : headers,
    ...(token === undefined ? {} : { authorization: `Bearer ${await tokenText(token, PREFIX)}` }),
    ...(accountId === undefined ? {} : { "chatgpt-account-id": accountId }),
  });
}

/** The platform's own words for a value that cannot be sent repeat it. */
function checked(headers: RegistryHeaders): RegistryHeaders {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string" && /^[\t -~\x80-\xff]*$/.test(value)) continue;
    throw new ClientError("configuration", `${PREFIX}: the value of the header ${JSON.stringify(name)} cannot be sent`);
  }
  return headers;
}
