/** As much of Deno as is used here. */
interface HttpClients {
  createHttpClient(options: { readonly http2: boolean }): Disposable;
}

/**
 * What a server answers to a WebSocket's upgrade over TLS. When an upgrade fails there Deno tries it again over HTTP/2,
 * and tells only how that went: a token that was refused would look like a server that is too old.
 *
 * @param target A `wss:` URL.
 * @returns The status; undefined if there is none in time.
 */
export async function upgradeStatus(
  target: URL,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<number | undefined> {
  const { Deno } = globalThis as unknown as { Deno: HttpClients };
  using client = Deno.createHttpClient({ http2: false });
  const url = new URL(target);
  url.protocol = "https:";
  try {
    const { status, body } = await fetch(url, {
      ...{ client, redirect: "manual", signal: AbortSignal.timeout(timeoutMs) },
      headers: { ...headers, ...UPGRADE, "sec-websocket-key": btoa(crypto.randomUUID().slice(-16)) },
    });
    await body?.cancel();
    return status;
  } catch (error) {
    if (error instanceof TypeError || (error as Error).name === "TimeoutError") return undefined;
    throw error;
  }
}

const UPGRADE = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
