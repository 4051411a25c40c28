/** The HTTP side of a WebSocket, as far as a rendezvous of tests needs it. */

/** An upgrade as it came. */
export interface UpgradeRequest {
  /** Path and query. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** What came behind the head. */
  readonly rest: Uint8Array<ArrayBuffer>;
}

const LARGEST_HEAD_BYTES = 16 * 1024;
/** RFC 6455, 1.3. */
const ACCEPT_SALT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Null: the other side left, or does not speak HTTP. */
export async function readUpgrade(tcp: Deno.TcpConn): Promise<UpgradeRequest | null> {
  const bytes = new Uint8Array(LARGEST_HEAD_BYTES);
  for (let filled = 0; filled < bytes.length;) {
    const count = await tcp.read(bytes.subarray(filled));
    if (count === null) return null;
    filled += count;
    const text = String.fromCharCode(...bytes.subarray(0, filled));
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) continue;
    const [requestLine = "", ...lines] = text.slice(0, end).split("\r\n");
    const headers = Object.fromEntries(lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }));
    return { target: requestLine.split(" ")[1] ?? "", headers, rest: bytes.slice(end + 4, filled) };
  }
  return null;
}

export async function accepting({ headers }: UpgradeRequest): Promise<string> {
  const salted = new TextEncoder().encode(`${headers["sec-websocket-key"]}${ACCEPT_SALT}`);
  const accept = new Uint8Array(await crypto.subtle.digest("SHA-1", salted)).toBase64();
  const lines = ["Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${accept}`];
  return ["HTTP/1.1 101 Switching Protocols", ...lines, "", ""].join("\r\n");
}

export function refusing(status: number, headers: Readonly<Record<string, string>> = {}, body = ""): string {
  const lines = Object.entries({ ...headers, "content-length": String(body.length), connection: "close" });
  return [`HTTP/1.1 ${status} Refused`, ...lines.map(([name, value]) => `${name}: ${value}`), "", body].join("\r\n");
}
