import { type Body, FramedBody, framingOf } from "./body.ts";
import { HeaderMap } from "./header_map.ts";
import type { RequestBytes } from "./request_head.ts";
import { emptyLines, endOfHead, MAX_HEAD_BYTES, parseHead, type ResponseHead } from "./response_head.ts";
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
  const open = request.persistent && staysOpen(head, headers) && method !== "CONNECT";
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

/** The head of the answer proper: what is preliminary (1xx) is skipped, but for the change to another protocol. */
async function readHead(socket: Socket): Promise<ResponseHead> {
  for (;;) {
    const head = parseHead(await headBytes(socket));
    if (head.status >= 200 || head.status === 101) return head;
  }
}

async function headBytes(socket: Socket): Promise<Uint8Array> {
  let looked = 0;
  for (;;) {
    if (looked === 0) socket.start += emptyLines(socket.bytes, socket.start, socket.end);
    const { bytes, start, end } = socket;
    const behind = endOfHead(bytes, start, end, start + looked);
    if (behind !== undefined) {
      socket.start = behind;
      return bytes.subarray(start, behind);
    }
    looked = Math.max(0, end - start - 1);
    if (!await socket.fill(MAX_HEAD_BYTES)) throw new Error("the connection ended before the answer");
  }
}

function staysOpen({ status, minorVersion }: ResponseHead, headers: HeaderMap): boolean {
  if (minorVersion === 0 || status === 101) return false;
  return !headers.all("connection").some((value) => /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i.test(value));
}
