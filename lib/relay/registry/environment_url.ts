import { isLoopback } from "../../loopback.ts";
import { urlDefect } from "../../url_defect.ts";
import { RegistryError } from "./registry_error.ts";

/** What is asked of a registry about an environment. */
export type RegistryAction = "register" | "validate" | "connect" | "direct/register";

/** An environment's place at a registry. */
export interface EnvironmentUrl {
  /** As it was given, without white space around it. */
  readonly environmentId: string;
  /** @returns Without user name and password: they belong to no request of ours. */
  of(action: RegistryAction): string;
}

/**
 * Checks where a registry is said to be, and which environment is meant.
 *
 * @param registry Its base; a path in it is kept. White space around it and slashes at its end are not part of it.
 * @throws {RegistryError} `configuration`.
 */
export function environmentUrl(registry: string, environmentId: string): EnvironmentUrl {
  const base = registryBase(registry);
  const id = environmentId.trim();
  if (id === "") throw misconfigured("environment id is required for remote exec-server registration");
  if (id === "." || id === ".." || !id.isWellFormed()) {
    throw misconfigured("this environment id cannot be part of a URL");
  }
  const prefix = `${base}/cloud/environment/${encodeURIComponent(id)}/`;
  return { environmentId: id, of: (action) => `${prefix}${action}` };
}

function registryBase(registry: string): string {
  const text = registry.trim().replace(/\/+$/, "");
  if (registry.trim() === "") throw misconfigured("environment registry base URL is required");
  const url = URL.parse(text);
  if (url === null) throw misconfigured(`invalid remote endpoint URL: ${urlDefect(text)}`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw misconfigured("the environment registry's base URL must use https:// or http://");
  }
  // What would be appended to them would never be part of a path.
  if (/[?#]/.test(text)) throw misconfigured("the environment registry's base URL must have no query and no fragment");
  url.username = url.password = "";
  return url.href.replace(/\/+$/, "");
}

/**
 * Checks that what is sent there is not sent in the clear, except on this machine.
 *
 * @param scheme The secure one.
 * @throws {RegistryError} `configuration`.
 */
export function requireSecure(endpoint: string, scheme: "https" | "wss"): void {
  const url = URL.parse(endpoint);
  if (url === null) throw misconfigured(`invalid remote endpoint URL: ${urlDefect(endpoint)}`);
  const isPlain = url.protocol === (scheme === "https" ? "http:" : "ws:");
  if (url.protocol === `${scheme}:` || (isPlain && isLoopback(url.hostname))) return;
  throw misconfigured(`remote transport requires ${scheme} for non-loopback endpoints`);
}

function misconfigured(why: string): RegistryError {
  return new RegistryError("configuration", why);
}
