/** Why a stream cannot go on. A closed list, for logs; the peer learns that it was reset and no more. */
export type StreamFault =
  | "record out of reach"
  | "records used up"
  | "bad record"
  | "bad message length"
  | "too many waiting messages"
  | "too much held"
  | "message to send is empty or too large"
  | "sealing failed";

/** The peer, or what was to be sent, broke a rule of the records: the stream ends. */
export class StreamError extends Error {
  override readonly name = "StreamError";

  constructor(readonly fault: StreamFault) {
    super(fault);
  }
}
