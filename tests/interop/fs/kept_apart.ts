/**
 * Requests that are not sent because both servers cannot be compared on them: the reference would wait for ever, or
 * ours does something better on purpose.
 */
import { isObject } from "../../wire/match.ts";
import type { Rules } from "../../wire/differences.ts";
import type { Deed } from "./deeds.ts";
import { walk } from "./places.ts";
import { type BytePath, list, lstat, PosixError, type Status } from "./posix.ts";
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
    const options = param("options", 1);
    const followsLinks = !isObject(options) || options["followDirectorySymlinks"] !== false;
    const roots = followsLinks ? [directory] : endsOf(param("path", 0));
    return roots.some(hasBrokenName) ? "walkLineBreaks" : null;
  }
  if (method !== "fs/copy") return null;
  const [sources, destinations] = [endsOf(param("sourcePath", 0)), endsOf(param("destinationPath", 1))];
  const targets = destinations.flatMap(everything);
  if (targets.some(({ kind }) => kind === "fifo")) return "fifoWithoutReader";
  const files = ({ kind }: Status) => kind === "file";
  const identities = new Set(targets.filter(files).map(({ identity }) => identity));
  const touchesItself = sources.flatMap(everything).filter(files).some(({ identity }) => identities.has(identity));
  return touchesItself && rules.allows("copyOntoItself") ? "copyOntoItself" : null;
}

function isFifo(place: BytePath): boolean {
  return everything(place)[0]?.kind === "fifo";
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

/** What is at a place and below it; links stand for what they lead to, but links to directories for nothing. */
function everything(place: BytePath): Status[] {
  try {
    const status = lstat(place);
    if (status === null) return [];
    if (status.kind === "link") {
      const end = lstat(walk(place).end);
      return end === null || end.kind === "directory" || end.kind === "link" ? [] : [end];
    }
    if (status.kind !== "directory") return [status];
    return [status, ...list(place).flatMap((name) => everything(`${place}/${name}`))];
  } catch (error) {
    if (error instanceof PosixError) return []; // forbidden to us and to servers run by the same user
    throw error;
  }
}
