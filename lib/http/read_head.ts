import { MalformedResponse } from "./failure.ts";
import { emptyLines, endOfHead, MAX_HEAD_BYTES, parseHead, type ResponseHead } from "./response_head.ts";
import type { Socket } from "./socket.ts";

/** Most preliminary answers before one proper: the reference reads them for as long as they come. */
const MAX_PRELIMINARY = 1000;

/**
 * The head of the answer proper: what is preliminary (1xx) is skipped, but for the change to another protocol.
 *
 * @throws {MalformedResponse} Also for more than {@linkcode MAX_PRELIMINARY} preliminary answers.
 * @throws {RangeError} For a head of more than {@linkcode MAX_HEAD_BYTES}.
 */
export async function readHead(socket: Socket): Promise<ResponseHead> {
  for (let skipped = 0; skipped <= MAX_PRELIMINARY; skipped++) {
    const head = parseHead(await headBytes(socket));
    if (head.status >= 200 || head.status === 101) return head;
  }
  throw new MalformedResponse("too many preliminary answers");
}

async function headBytes(socket: Socket): Promise<Uint8Array> {
  let looked = 0;
  let skipped = 0;
  for (;;) {
    if (looked === 0) skipped += skipEmptyLines(socket);
    const { bytes, start, end } = socket;
    const behind = endOfHead(bytes, start, end, start + looked);
    if (behind !== undefined) {
      socket.start = behind;
      return bytes.subarray(start, behind);
    }
    looked = Math.max(0, end - start - 1);
    if (!await socket.fill(MAX_HEAD_BYTES - skipped)) throw new Error("the connection ended before the answer");
  }
}

function skipEmptyLines(socket: Socket): number {
  const length = emptyLines(socket.bytes, socket.start, socket.end);
  socket.start += length;
  return length;
}
