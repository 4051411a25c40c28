import type { Case } from "./case.ts";
import { COMMAND } from "./command.ts";
import { DECIDER } from "./decider.ts";
import { FILES } from "./files.ts";
import { HTTP } from "./http.ts";
import { INITIALIZE } from "./initialize.ts";
import { LAZY } from "./lazy.ts";
import { RECOVERY } from "./recovery.ts";
import { STREAMS } from "./streams.ts";
import { TELEMETRY } from "./telemetry.ts";

/** Everything that the client must do with any server, by subject. */
export const SUITE: readonly (readonly [subject: string, cases: readonly Case[]])[] = [
  ["initialize", INITIALIZE],
  ["the order of events", STREAMS],
  ["recovery", RECOVERY],
  ["files", FILES],
  ["HTTP", HTTP],
  ["network decisions", DECIDER],
  ["telemetry", TELEMETRY],
  ["servers as children", COMMAND],
  ["lazy environments", LAZY],
];
