import { isLoopback } from "../../loopback.ts";
import { urlDefect } from "../../url_defect.ts";
import { CredentialError } from "../credential.ts";

/** To these domains and what is below them the reference sends an API key. */
export const API_KEY_DOMAINS: readonly string[] = ["openai.com", "openai.org"];

/** How a credential is called that goes to trusted hosts only, and what is said where a host is not one. */
export interface HostRule {
  /** Trusted with all that is below them, over https. */
  readonly domains: readonly string[];
  readonly refusal: string;
}

export const API_KEY_RULE: HostRule = {
  domains: API_KEY_DOMAINS,
  refusal: "remote exec-server API-key authentication is restricted to HTTPS openai.com and openai.org hosts and " +
    "subdomains or loopback hosts",
};

/**
 * Whether a credential may be sent to a registry: over `https` to a domain of the rule, a host below one, or a host that
 * the operator trusts; over `http` or `https` to this machine (`localhost`, 127.0.0.0/8, `::1`).
 *
 * Hosts are compared as the URL parser writes them: lower case, international names in their ASCII form, every way to
 * write an IPv4 address as four numbers. `openai.com.`, with the root's dot, is another name than `openai.com`.
 *
 * @param trusted What `--trust-registry` named, as `parseTrustedHost` gives it.
 * @throws {CredentialError} It may not.
 */
export function requireTrustedRegistry(url: string, rule: HostRule, trusted: readonly string[]): void {
  const parsed = URL.parse(url);
  if (parsed === null) {
    throw new CredentialError(`invalid remote exec-server registration URL: ${urlDefect(url)}`);
  }
  const { protocol, hostname } = parsed;
  if (hostname === "") throw new CredentialError("remote exec-server registration URL must include a host");
  if (protocol === "https:" || protocol === "http:") {
    if (isLoopback(hostname)) return;
    const isTrusted = trusted.includes(hostname) ||
      rule.domains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
    if (protocol === "https:" && isTrusted) return;
  }
  throw new CredentialError(`${rule.refusal}; --trust-registry HOST allows another one, over HTTPS`);
}
