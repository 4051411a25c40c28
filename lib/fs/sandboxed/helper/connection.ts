import { EAGAIN, EINTR } from "../../../linux/errno.ts";
import { isPairedSocket, peek, receive, send } from "../../../linux/socket_calls.ts";
import { close } from "../../../linux/system_call.ts";
import { LaunchFailure, must, NOT_BY_HAND } from "../../../sandbox/launcher/failure.ts";
import { bodyLength, decodeMessage, encodeMessage, HEADER_BYTES, type Reply, type Request } from "../messages.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The other end is closed: the server is done with us, or gone. */
export class ServerGone extends Error {
  override name = "ServerGone";
}

/** The helper's end. Everything waits: there is nothing else to do. */
export class HelperConnection {
  readonly #fd: number;

  /** @throws {LaunchFailure} If it is no connection to the server. */
  constructor(fd: number) {
    if (!isPairedSocket(fd)) throw new LaunchFailure(NOT_BY_HAND);
    this.#fd = fd;
  }

  /** @throws {ServerGone} */
  receive(): Request {
    const length = bodyLength(this.#receiveBytes(HEADER_BYTES));
    return decodeMessage(this.#receiveBytes(length)) as Request;
  }

  /**
   * Whether there is something to receive now.
   *
   * @throws {ServerGone}
   */
  get hasMore(): boolean {
    const result = peek(this.#fd);
    if (result === -EAGAIN || result === -EINTR) return false;
    if (must("recvmsg", result) === 0) throw new ServerGone();
    return true;
  }

  /**
   * @param fd What the server is to have open as well. It is closed here, whatever happens.
   * @throws {ServerGone}
   */
  send(reply: Reply, fd: number | null = null): void {
    try {
      let handover = fd;
      for (let rest: Bytes = encodeMessage(reply); rest.length > 0;) {
        const count = send(this.#fd, rest, handover, { now: false });
        if (count === -EINTR) continue;
        if (count < 0) throw new ServerGone();
        handover = null;
        rest = rest.subarray(count);
      }
    } finally {
      if (fd !== null) close(fd);
    }
  }

  #receiveBytes(length: number): Bytes {
    const bytes = new Uint8Array(new ArrayBuffer(length));
    for (let fill = 0; fill < length;) {
      const received = receive(this.#fd, bytes.subarray(fill), { now: false });
      if (received === -EINTR) continue;
      if (typeof received === "number" || received.count === 0) throw new ServerGone();
      if (received.fd !== null) close(received.fd); // the server sends none
      fill += received.count;
    }
    return bytes;
  }
}
