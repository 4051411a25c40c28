import { type Body, FramedBody, framingOf } from "./body.ts";
import { HeaderMap } from "./header_map.ts";
import { type RequestBytes, saysClose } from "./request_head.ts";
import { readHead } from "./read_head.ts";
import type { Socket } from "./socket.ts";

export interface HttpResponse {
  readonly status: number;
  readonly headers: HeaderMap;
  readonly body: Body;
}

/** Up to this size the body leaves in one piece with its head, in bytes. */
const ONE_WRITE_BYTES = 64 * 1024;

/**
 * Sends one request over a connection and reads what comes back, up to the body. The peer may answer before it has the
 * whole request.
 *
 * @param finish Called once, when the connection is no longer needed; `reusable` if another request may follow on it.
 * Not called if this throws.
 * @throws {unknown} Whatever went wrong; the connection is of no more use.
 */
export async function exchange(
  socket: Socket,
  method: string,
  request: RequestBytes,
  finish: (reusable: boolean) => void,
): Promise<HttpResponse> {
  let written = false;
  const writing = writeRequest(socket, request).then(() => written = true);
  // A peer that has answered may well have stopped listening; if it has not, the reading fails as well.
  writing.catch(() => {});
  const head = await readHead(socket);
  const headers = HeaderMap.from(head.headers);
  const open = request.persistent && head.minorVersion === 1 && head.status !== 101 && method !== "CONNECT" &&
    !saysClose(headers);
  const body = new FramedBody(
    socket,
    framingOf(method, head, headers),
    (whole) => finish(whole && open && written && socket.start === socket.end),
  );
  return { status: head.status, headers, body };
}

async function writeRequest(socket: Socket, { head, body }: RequestBytes): Promise<void> {
  if (head.length + body.length > ONE_WRITE_BYTES) {
    await socket.write(head);
    return await socket.write(body);
  }
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  await socket.write(whole);
}
