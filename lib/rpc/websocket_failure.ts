/**
 * Why a WebSocket broke, in the reference's words as far as the platform tells.
 *
 * @param failure What the platform's error event said; empty: nothing, or there was none.
 * @param clean Whether the connection ended by close frames; Node.js and browsers tell of a loss by this alone.
 * @returns Empty if it did not break.
 */
export function websocketFailure(failure: string, clean: boolean): string {
  if (failure === "" || failure === "Unexpected EOF") {
    return failure === "" && clean ? "" : "WebSocket protocol error: Connection reset without closing handshake";
  }
  return failure.includes("(os error ") ? `IO error: ${failure}` : `WebSocket protocol error: ${failure}`;
}
