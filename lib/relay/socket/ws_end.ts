import type { SocketEndReason } from "./relay_socket.ts";

/** Of `ws`: what it found wrong with a frame. */
const TOO_BIG = new Set(["WS_ERR_UNSUPPORTED_MESSAGE_LENGTH", "WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH"]);
/** No close frame came. Source: RFC 6455, 7.1.5. */
const ABNORMAL_CLOSURE = 1006;

/** Why a socket of `ws` ended. @param sign The error that it reported, or else the code of its close. */
export function endReason(sign: (Error & { readonly code?: string }) | number): SocketEndReason {
  if (typeof sign === "number") return sign === ABNORMAL_CLOSURE ? "connection lost" : "closed by the peer";
  const { code = "" } = sign;
  if (TOO_BIG.has(code)) return "message too big";
  return code.startsWith("WS_ERR_") ? "protocol violation" : "connection lost";
}
