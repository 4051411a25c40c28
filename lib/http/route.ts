import type { Proxy } from "./proxy.ts";

/** The way to a peer. */
export interface Route {
  /** Equal for two routes that one connection can serve. */
  readonly key: string;
  readonly secure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
  readonly proxy: Proxy | undefined;
}

export function routeTo(url: URL, proxy: Proxy | undefined): Route {
  const secure = url.protocol === "https:";
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  const by = proxy === undefined
    ? ""
    : ` by ${proxy.secure} ${proxy.hostname} ${proxy.port} ${proxy.authorization ?? ""}`;
  return {
    key: `${url.protocol}//${url.hostname}:${port}${by}`,
    secure,
    hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port,
    proxy,
  };
}

/** The proxy that reads the requests on this route itself: what is to be secret from it goes through a tunnel. */
export function readingProxy({ secure, proxy }: Route): Proxy | undefined {
  return secure ? undefined : proxy;
}
