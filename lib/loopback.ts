/**
 * Whether a URL leads to this machine alone, so that what it carries may go unencrypted.
 *
 * @param hostname As `URL` gives it for `http:`, `https:`, `ws:` and `wss:`: every form of an address has become one.
 */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
