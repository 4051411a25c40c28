/** Hosts that an operator trusts with a credential, as `--trust-registry HOST` names them. */

/**
 * The host that a text names, as the URL parser writes it: lower case, an international name in its ASCII form, an IPv6
 * address in brackets. It stands for exactly that host, not for what is below it, with any port.
 *
 * @returns undefined If it is no host name and no address, or has a scheme, a port, a path, user info or a wildcard.
 */
export function parseTrustedHost(text: string): string | undefined {
  // Each of these would end the host or stand for something else; the URL parser would drop white space silently.
  if (text === "" || /[\s/\\?#@*%]/.test(text)) return undefined;
  const isBareIpv6 = !text.startsWith("[") && text.indexOf(":") !== text.lastIndexOf(":");
  const host = isBareIpv6 ? `[${text}]` : text;
  // A colon after the address or the name begins a port, also where the parser would leave it out.
  if (host.replace(/^\[[^\]]*\]/, "").includes(":")) return undefined;
  return URL.parse(`https://${host}/`)?.hostname;
}

/** What keeps a text from being the host of `--trust-registry`; undefined: nothing. */
export function trustedHostFlaw(text: string): string | undefined {
  if (parseTrustedHost(text) !== undefined) return undefined;
  return "a host name or an IP address is expected, without scheme, port, path or wildcard, such as registry.example.com";
}
