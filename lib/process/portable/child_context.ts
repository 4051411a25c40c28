import type { Log } from "../../log.ts";
import type { ChildEvents } from "../child.ts";
import type { LedGroups } from "./group.ts";

/** What a program belongs to that is being started. */
export interface ChildContext {
  readonly events: ChildEvents;
  readonly groups: LedGroups;
  readonly log: Log;
}
