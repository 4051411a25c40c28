/** `initialize`. Its notification, `initialized`, has no parameters that anyone reads. */

import { type Codec, type Decoded, identifier, nullable, string } from "../codec.ts";
import { toWellFormedJson } from "../json.ts";
import { defaulted, optional, struct } from "../struct.ts";
import { environmentInfo } from "./environment.ts";

export const initializeParams = struct("InitializeParams", {
  /** For diagnostics only. */
  clientName: identifier,
  /** The session to take over; null: a new one. */
  resumeSessionId: defaulted(nullable(string), null),
});

const initializeMembers = struct("InitializeResponse", {
  sessionId: defaulted(string, ""),
  environmentInfo: optional(environmentInfo),
});

/** Old servers answer `{}`. */
export const initializeResult: Codec<Decoded<typeof initializeMembers>> = {
  ...initializeMembers,
  toJson({ sessionId, environmentInfo: info }) {
    const infoJson = info === null ? "null" : environmentInfo.toJson(info);
    return `{"sessionId":${toWellFormedJson(sessionId)},"environmentInfo":${infoJson}}`;
  },
};
