/** Which files a text may stand for. */
import { type BytePath, bytePath, fromBytes } from "./posix.ts";

/** What a drive would be on this machine if a server took it for an ordinary name. */
const DRIVE = /^\/[A-Za-z](:|%3a)(\/|$)/i;

export interface Reading {
  /** Absolute, or relative to the server's working directory. */
  readonly path: BytePath;
  /** It begins with a drive, and so is no path on this machine. */
  readonly isDrive: boolean;
}

/** What a server could take a text for: a URL by the rules, a URL without the rules, the name of a file. */
export function readings(text: string): Reading[] {
  const url = URL.parse(text);
  const found: Reading[] = [];
  if (url !== null) {
    const isDrive = url.protocol === "file:" && DRIVE.test(url.pathname);
    found.push({ path: percentDecode(url.pathname), isDrive });
  }
  if (url === null || url.protocol === "file:") {
    const behindHost = text.trim().replaceAll(/[\t\n\r]/g, "").replace(/^file:(\/\/[^/]*)?/i, "");
    const rest = behindHost.replace(/[?#].*/s, "");
    found.push({ path: percentDecode(rest), isDrive: DRIVE.test(rest) });
  }
  if (url === null) found.push({ path: bytePath(text), isDrive: false });
  // A NUL ends a name for whoever hands it to libc.
  const whole = found.map(({ path, isDrive }) => ({ path: path.replace(/\0.*/s, ""), isDrive }));
  // `..` behind an encoded slash may be taken by whoever looks before the links are followed.
  return [
    ...whole,
    ...whole.flatMap(({ path, isDrive }) => path.includes("..") ? [{ path: tidy(path), isDrive }] : []),
  ];
}

/** Without `.` and `..`, as the names say. */
function tidy(path: BytePath): BytePath {
  const names: BytePath[] = [];
  for (const name of path.split("/").filter((name) => name !== "" && name !== ".")) {
    if (name !== ".." || names.length === 0 && !path.startsWith("/") || names.at(-1) === "..") names.push(name);
    else names.pop();
  }
  return (path.startsWith("/") ? "/" : "") + names.join("/");
}

function percentDecode(text: string): BytePath {
  const pieces = text.split(/(%[0-9a-f]{2})/i);
  return pieces.map((piece, i) => i % 2 === 1 ? fromBytes(Uint8Array.fromHex(piece.slice(1))) : bytePath(piece)).join(
    "",
  );
}
