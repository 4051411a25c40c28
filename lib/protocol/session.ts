/** `initialize`. Its notification, `initialized`, has no parameters that anyone reads. */

import { identifier, nullable, string } from "../codec.ts";
import { defaulted, optional, struct } from "../struct.ts";
import { environmentInfo } from "./environment.ts";

export const initializeParams = struct("InitializeParams", {
  /** For diagnostics only. */
  clientName: identifier,
  /** The session to take over; null: a new one. */
  resumeSessionId: defaulted(nullable(string), null),
});

/** Old servers answer `{}`. */
export const initializeResult = struct("InitializeResponse", {
  sessionId: defaulted(string, ""),
  environmentInfo: optional(environmentInfo),
});
