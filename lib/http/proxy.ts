import { basic } from "./basic_credentials.ts";
import { isExempt } from "./no_proxy.ts";

/** Who carries requests to others. */
export interface Proxy {
  /** Whether it is spoken to over TLS. */
  readonly secure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
  /** What it gets to see as `proxy-authorization`. */
  readonly authorization: string | undefined;
}

/** A proxy that is named in the environment and that we cannot use. */
export class UnusableProxy extends Error {
  override readonly name = "UnusableProxy";
}

/**
 * The proxy that the environment names for a URL, by the rules of the reference: `HTTP_PROXY` or `HTTPS_PROXY` by the
 * scheme of the URL, else `ALL_PROXY`; each also in lower case, which counts only if the upper case is not there; not for
 * what `NO_PROXY` exempts; none at all if `REQUEST_METHOD` is set, because `HTTP_PROXY` may then be a header that some
 * web server made a variable of. A value that is empty or no URL is none; without a scheme it means `http:`.
 *
 * @throws {UnusableProxy} For SOCKS, which the reference does not speak either, and for ports that are none.
 */
export function proxyFor(url: URL, environment: ReadonlyMap<string, string>): Proxy | undefined {
  if (environment.has("REQUEST_METHOD")) return undefined;
  const named = (name: string) => environment.get(name) ?? environment.get(name.toLowerCase()) ?? "";
  const proxy = parseProxy(named(url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY")) ??
    parseProxy(named("ALL_PROXY"));
  if (proxy === undefined || isExempt(url.hostname, named("NO_PROXY"))) return undefined;
  if (proxy instanceof UnusableProxy) throw proxy;
  return proxy;
}

const AUTHORITY = /^(?:([^/?#]*)@)?([^@/?#]+)(?:[/?#]|$)/;
const SOCKS: ReadonlySet<string> = new Set(["socks4", "socks4a", "socks5", "socks5h"]);

function parseProxy(text: string): Proxy | UnusableProxy | undefined {
  if (!/^[\x21-\x7e]+$/.test(text)) return undefined;
  const [, scheme, rest = text] = /^([^/]*):\/\/(.*)$/.exec(text) ?? [];
  // Without a scheme there is nothing but the authority.
  if (scheme === undefined && /[/?#]/.test(text)) return undefined;
  const kind = scheme?.toLowerCase() ?? "http";
  const [, user, host] = AUTHORITY.exec(rest) ?? [];
  if (host === undefined) return undefined;
  if (SOCKS.has(kind)) return new UnusableProxy("a SOCKS proxy is named in the environment");
  if (kind !== "http" && kind !== "https") return undefined;
  const url = URL.parse(`${kind}://${host}/`);
  // Going there directly would be what somebody took care to prevent.
  if (url === null) {
    return /:\d+$/.test(host) ? new UnusableProxy("a proxy with a bad port is named in the environment") : undefined;
  }
  const secure = kind === "https";
  return {
    secure,
    hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
    authorization: user === undefined ? undefined : credentials(user),
  };
}

function credentials(userAndPassword: string): string {
  const colon = userAndPassword.indexOf(":");
  const [user, password] = colon < 0
    ? [userAndPassword, ""]
    : [userAndPassword.slice(0, colon), userAndPassword.slice(colon + 1)];
  return basic(user, password, new TextDecoder());
}
