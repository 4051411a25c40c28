import { urlDefect } from "../url_defect.ts";
import { protocolError } from "./client_error.ts";
import { bearer, headersFor } from "./websocket_rules.ts";

/** Source: the reference's HTTP library; seen to refuse 70 000. */
const MAX_URL_BYTES = 65_534;

/**
 * The URL of a configured environment.
 *
 * @throws {ClientError} `protocol`, in the reference's words.
 */
export function environmentUrl(text: string): string {
  const url = text.trim();
  if (url === "") throw protocolError("environment url cannot be empty");
  if (!/^wss?:\/\//.test(url)) throw protocolError(`environment url \`${url}\` must use ws:// or wss://`);
  const defect = uriDefect(url);
  if (defect !== undefined) throw protocolError(`environment url \`${url}\` is invalid: HTTP format error: ${defect}`);
  return url;
}

/** @throws {ClientError} `protocol`, if the token cannot be sent, or must not be sent there. */
export function checkToken(url: string, token: string): void {
  if (!URL.canParse(url)) throw protocolError(`invalid exec-server WebSocket URL: ${urlDefect(url)}`);
  headersFor(url, bearer(token));
}

/**
 * What the reference's HTTP library has against a `ws://` or `wss://` URL. It is stricter than the web's URLs with
 * characters, and laxer with hosts and ports; what it takes may still be refused when it is dialled.
 */
function uriDefect(url: string): string | undefined {
  if (new TextEncoder().encode(url).length > MAX_URL_BYTES) return "uri too long";
  const rest = url.slice(url.indexOf("//") + 2);
  if (rest === "") return "empty string";
  const authority = /^[^/?#]*/.exec(rest)![0];
  const [path = "", ...query] = rest.slice(authority.length).split("#", 1)[0]!.split("?");
  if (!/^[\w!$&'()*+,\-.:;=@[\]~%]*$/.test(authority)) return "invalid uri character";
  if (authority !== "" && !isAuthority(authority)) return "invalid authority";
  if (/[\0- <>`]/.test(path) || /[\0- <>"]/.test(query.join("?"))) return "invalid uri character";
  return authority === "" ? "invalid format" : undefined;
}

/** At most one host in brackets, one port, and no percent sign but in front of an @ or in the brackets. */
function isAuthority(authority: string): boolean {
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const opened = authority.split("[").length - 1;
  const closed = authority.split("]").length - 1;
  if (host === "" || opened > 1 || opened !== closed || authority.indexOf("]") < authority.indexOf("[")) return false;
  const outside = host.slice(host.indexOf("]") + 1);
  return outside.split(":").length <= 2 && !outside.includes("%");
}
