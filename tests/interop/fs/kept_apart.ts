/**
 * Requests that are not sent because both servers cannot be compared on them: the reference would wait for ever, or
 * ours does something better on purpose.
 */
import { isObject } from "../../wire/match.ts";
import type { Rules } from "../../wire/differences.ts";
import type { Deed } from "./deeds.ts";
import { walk } from "./places.ts";
import { type BytePath, list, lstat, PosixError, readlink, type Status } from "./posix.ts";
import { readings } from "./readings.ts";

/** @returns Why the request to the side with this directory is not sent, or null if it may be. */
export function keptApart(text: string, directory: BytePath, rules: Rules): string | null {
  const { method, params } = JSON.parse(text) as { method: string; params: unknown };
  const param = (name: string, index: number): unknown =>
    Array.isArray(params) ? params[index] : isObject(params) ? params[name] : undefined;
  const endsOf = (value: unknown): BytePath[] => {
    if (typeof value !== "string") return [];
    return readings(value).map(({ path }) => walk(path.startsWith("/") ? path : `${directory}/${path}`).end);
  };
  if (method === "fs/writeFile" && param("followSymlinks", 2) !== false) {
    return endsOf(param("path", 0)).some(isFifo) ? "fifoWithoutReader" : null;
  }
  if (method === "fs/walk" && rules.allows("walkLineBreaks")) {
    return hasBrokenName(directory) ? "walkLineBreaks" : null;
  }
  if (method !== "fs/copy") return null;
  const [sources, destinations] = [endsOf(param("sourcePath", 0)), endsOf(param("destinationPath", 1))];
  const [from, to] = [sources, destinations].map((places) => places.flatMap((place) => everything(place))) as [
    Item[],
    Item[],
  ];
  if (to.some(({ status }) => status.kind === "fifo")) return "fifoWithoutReader";
  const filesOf = (items: readonly Item[]) =>
    new Set(items.filter(({ status }) => status.kind === "file").map(({ status }) => status.identity));
  if (rules.allows("copyOntoItself") && !filesOf(from).isDisjointFrom(filesOf(to))) return "copyOntoItself";
  const copiesTree = from.some(({ status }) => status.kind === "directory");
  const mayLeadOut = to.some(({ target }) => target !== null && /^\/|(^|\/)\.\.(\/|$)/.test(target));
  return copiesTree && mayLeadOut && rules.allows("copyThroughLinks") ? "copyThroughLinks" : null;
}

function isFifo(place: BytePath): boolean {
  return everything(place)[0]?.status.kind === "fifo";
}

/**
 * @param watches The requests for watches so far, with placeholders.
 * @returns Why a deed is not done while a watch may be active, or null if it may be.
 */
export function deedKeptApart(deed: Deed, watches: readonly string[], rules: Rules): string | null {
  if (deed.do !== "write" && deed.do !== "truncate" || !rules.allows("watchNeighbours")) return null;
  const name = deed.path.slice(deed.path.lastIndexOf("/") + 1);
  const mayBeAnother = NOT_ONLY_ITSELF.test(name) || watches.some((watch) => {
    const { params } = JSON.parse(watch) as { params: unknown[] | { missing: unknown; present?: unknown } };
    return NOT_ONLY_ITSELF.test(JSON.stringify(Array.isArray(params) ? params : [params.missing, params.present]));
  });
  return mayBeAnother ? "watchNeighbours" : null;
}

/** A name or a URI with capitals, or that is not ASCII, or may be so once it is decoded. */
const NOT_ONLY_ITSELF = /[A-Z%]|[^\0-\x7f]/;

function hasBrokenName(place: BytePath): boolean {
  return namesBelow(place).some((name) => /[\t\n\r]/.test(name));
}

function namesBelow(place: BytePath): BytePath[] {
  try {
    if (lstat(place)?.kind !== "directory") return [];
    return list(place).flatMap((name) => [name, ...namesBelow(`${place}/${name}`)]);
  } catch (error) {
    if (error instanceof PosixError) return [];
    throw error;
  }
}

interface Item {
  /** Of what is there, a link followed. */
  readonly status: Status;
  /** Where the link leads, if it is one. */
  readonly target: BytePath | null;
}

/** What is at a place and below it, everything once. Links are followed, into directories as well. */
function everything(place: BytePath, seen = new Set<string>()): Item[] {
  try {
    const own = lstat(place);
    if (own === null || seen.has(own.identity)) return [];
    seen.add(own.identity);
    const target = own.kind === "link" ? readlink(place) : null;
    const end = target === null ? place : walk(place).end;
    const status = lstat(end);
    if (status === null || status.kind === "link") return [{ status: own, target }];
    if (status.kind !== "directory" || target !== null && seen.has(status.identity)) return [{ status, target }];
    seen.add(status.identity);
    return [{ status, target }, ...list(end).flatMap((name) => everything(`${end}/${name}`, seen))];
  } catch (error) {
    if (error instanceof PosixError) return []; // forbidden to us and to servers run by the same user
    throw error;
  }
}
