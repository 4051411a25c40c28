import type { NotificationName, NotificationParams } from "../protocol/methods.ts";

/** One event that the server told without being asked. */
export type ServerEvent = {
  readonly [N in NotificationName]: { readonly method: N; readonly params: NotificationParams<N> };
}[NotificationName];
