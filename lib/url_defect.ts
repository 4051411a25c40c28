/**
 * Why a text is not an absolute URL, in the words of the reference's parser; the platform's parser accepts and refuses
 * the same texts, but does not say why.
 *
 * @param text A text that `new URL` refuses.
 */
export function urlDefect(text: string): string {
  const trimmed = text.replaceAll(/^[\0-\x20]+|[\0-\x20]+$/g, "").replaceAll(/[\t\n\r]/g, "");
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(trimmed)?.[1]?.toLowerCase();
  if (scheme === undefined) return "relative URL without a base";
  const special = ["http", "https", "ws", "wss", "ftp"].includes(scheme);
  const isFile = scheme === "file";
  const rest = trimmed.slice(scheme.length + 1);
  const authority = special || isFile
    ? rest.replace(isFile ? /^[/\\]{2}/ : /^[/\\]*/, "").split(/[/\\?#]/)[0] ?? ""
    : rest.replace(/^\/\//, "").split(/[/?#]/)[0] ?? "";
  // A file URL has neither credentials nor port: their marks make its host a bad one.
  const host = isFile
    ? authority
    : /^(?:\[[^\]]*\]?)?[^:]*/.exec(authority.slice(authority.lastIndexOf("@") + 1))?.[0] ?? "";
  if (host === "" || /^\p{Default_Ignorable_Code_Point}+$/u.test(host)) return "empty host";
  if (!isFile && URL.canParse(`${scheme}://${host}/`)) return "invalid port number";
  if (host.startsWith("[")) return "invalid IPv6 address";
  if (!special && !isFile) return "invalid domain character";
  return endsInNumber(host) ? "invalid IPv4 address" : "invalid international domain name";
}

/** A number as the last label of a host, and the dot that may follow it. */
const LAST_NUMBER = /(^|\.)(?:\d+|0x[0-9a-f]*)\.?$/i;
const NEVER_IN_A_NAME = /[\0-\x20#%/:<>?@[\\\]^|\x7f]/;

/** Whether a host would have to be an IPv4 address: a number at its end, and nothing else wrong with it. */
function endsInNumber(host: string): boolean {
  const decoded = host.replaceAll(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  const plain = decoded.normalize("NFKC").replaceAll("\u3002", "."); // the ideographic full stop separates labels too
  if (NEVER_IN_A_NAME.test(plain) || !LAST_NUMBER.test(plain)) return false;
  return URL.canParse(`https://${plain.replace(LAST_NUMBER, "$1name")}/`);
}
