import type { DirectoryEntry, WalkResult } from "../../operations.ts";
import type { DeedName, ListName, Results } from "../messages.ts";
import type { HelperConnection } from "./connection.ts";

/** Items of a list that are sent at a time: the server takes them in without keeping others waiting. */
const ITEMS_PER_PART = 2048;

/**
 * Sends what a deed has come to.
 *
 * @throws {ServerGone}
 */
export function sendResult(connection: HelperConnection, name: DeedName, result: Results[DeedName]): void {
  switch (name) {
    case "open":
      return connection.send({ done: null }, result as number);
    case "readDirectory":
      sendList(connection, "entries", result as readonly DirectoryEntry[]);
      return connection.send({ done: null });
    case "walk": {
      const { entries, errors, ...rest } = result as WalkResult;
      sendList(connection, "entries", entries);
      sendList(connection, "errors", errors);
      return connection.send({ done: rest });
    }
    default:
      return connection.send({ done: result });
  }
}

function sendList(connection: HelperConnection, part: ListName, list: readonly unknown[]): void {
  for (let at = 0; at < list.length; at += ITEMS_PER_PART) {
    connection.send({ part, items: list.slice(at, at + ITEMS_PER_PART) });
  }
}
