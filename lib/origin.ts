/** Which web pages may connect: browsers say in the header `Origin` whose page it is, and nobody else sends one. */

/**
 * Schemes whose pages have no origin of their own: browsers send `null` for them, which every page can bring about. And
 * those that no page is loaded with: a server's address, `wss://…`, is not the origin of who connects to it.
 */
const WITHOUT_ORIGIN = /^(file|data|blob|javascript|about|wss?|ftp):/;
/** How origins look whose schemes `URL` knows nothing of, e.g. those of browser extensions. */
const OTHER_ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+$/;

/**
 * What keeps a text from being an origin as browsers send it, `https://app.example.com` or `http://localhost:3000`;
 * undefined: nothing. All would be compared letter by letter, so a text that no browser sends must not pass for one.
 */
export function originFlaw(text: string): string | undefined {
  if (text.includes("*")) return "there are no wildcards, name the origin of each page";
  const origin = originOf(text);
  if (origin === text) return undefined;
  const expected = "an origin is expected, such as https://app.example.com or http://localhost:3000";
  return origin === undefined ? expected : `${expected}; browsers send this one as ${origin}`;
}

/** The origin of a page at this address, as browsers send it. */
function originOf(text: string): string | undefined {
  if (WITHOUT_ORIGIN.test(text)) return undefined;
  const url = URL.parse(text);
  if (url === null) return undefined;
  if (url.origin !== "null") return url.origin;
  return OTHER_ORIGIN.test(text) ? text : undefined;
}
