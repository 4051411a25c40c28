import { UsageError } from "./usage_error.ts";

/** Where the server is to be reached. */
export type ListenTarget =
  | { readonly kind: "stdio" }
  | {
    readonly kind: "websocket";
    /** A literal IP address, IPv6 without brackets. */
    readonly hostname: string;
    /** 0: any that is free. */
    readonly port: number;
  };

/**
 * Reads `ws://IP:PORT`, `stdio` or `stdio://`. Names are not looked up: what listens must be said outright.
 *
 * @throws {UsageError} With exit code 1.
 */
export function parseListenUrl(url: string): ListenTarget {
  if (url === "stdio" || url === "stdio://") return { kind: "stdio" };
  const address = url.startsWith("ws://") ? url.slice("ws://".length) : undefined;
  if (address === undefined) {
    throw new UsageError(1, `Error: unsupported --listen URL \`${url}\`; expected \`ws://IP:PORT\` or \`stdio\``);
  }
  const [, v6, v4, digits] = address.match(/^(?:\[([\da-fA-F:.]+)\]|([\d.]+)):(\d+)$/) ?? [];
  const port = Number(digits);
  const hostname = v6 !== undefined && isIpv6(v6) ? v6 : v4 !== undefined && isIpv4(v4) ? v4 : undefined;
  if (hostname === undefined || port > 65_535) {
    throw new UsageError(1, `Error: invalid websocket --listen URL \`${url}\`; expected \`ws://IP:PORT\``);
  }
  return { kind: "websocket", hostname, port };
}

/** Four decimal numbers without leading zeros: elsewhere those mean octal. */
function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  return URL.canParse(`http://[${text}]/`);
}
