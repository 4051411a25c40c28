/**
 * A rendezvous URL as error texts and labels may show it: up to its query, which is a capability, and without a user's
 * name. It comes from a registry, so a text may not be a URL at all.
 */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return "(no URL)";
  const text = url.split(/[?#]/, 1)[0]!;
  // What is seldom seen in a URL is shown as the parser writes it.
  const shown = /^[!-~]+$/.test(text) ? text : new URL(url).href.split(/[?#]/, 1)[0]!;
  return shown.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1");
}
