/** Random spellings of paths as URIs: right ones, odd ones and wrong ones, by every rule that there is. */
import fc from "fast-check";
import type { BytePath } from "./posix.ts";
import { TREE } from "./tree.ts";

/** The tree's path without its leading slash, with backslashes, and with all its letters percent-encoded. */
export const TREE_BARE = "<tree:bare>", TREE_BACKSLASHED = "<tree:backslashed>", TREE_ENCODED = "<tree:encoded>";

/** Replaces the placeholders; `path` must have no character that JSON escapes. */
export function fillIn(text: string, path: string): string {
  return text.replaceAll(TREE, path).replaceAll(TREE_BARE, path.slice(1)).replaceAll(TREE_ENCODED, encoded(path))
    .replaceAll(TREE_BACKSLASHED, path.replaceAll("/", "\\\\"));
}

/** A path with all its letters percent-encoded. */
export function encoded(path: BytePath): string {
  return path.replaceAll(/[^/]/g, escape);
}

const PREFIX = `file://${TREE}`;
const UNRESERVED = /[\w.~!$&'()*+,;=:@-]/;

/** The usual spelling of a path below the tree; the empty one is the tree itself. */
export function plainUri(path: BytePath): string {
  const spelled = Array.from(path, (char) => char === "/" || UNRESERVED.test(char) ? char : escape(char)).join("");
  return path === "" ? PREFIX : `${PREFIX}/${spelled}`;
}

function escape(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}

/** A change of a spelling. `pick` chooses a place where there are several. */
type Twist = (uri: string, pick: number) => string;

/** Puts something at one of the slashes behind the tree's path, or at the end. */
function atSlash(put: string): Twist {
  return (uri, pick) => {
    const slashes = [...uri.matchAll(/\//g)].map(({ index }) => index).filter((index) => index > PREFIX.length - 1);
    const at = [...slashes, uri.length][pick % (slashes.length + 1)]!;
    return uri.slice(0, at) + put + uri.slice(at);
  };
}

function withHost(host: string): Twist {
  return (uri) => uri.replace("file://", `file://${host}`);
}

function asScheme(scheme: string): Twist {
  return (uri) => uri.replace("file://", scheme);
}

function constant(uri: string): Twist {
  return () => uri;
}

const tail = (uri: string, change: (tail: string) => string): string =>
  uri.startsWith(PREFIX) ? PREFIX + change(uri.slice(PREFIX.length)) : uri;

/** Still names the path, or another one of the tree. */
const EQUIVALENT: readonly Twist[] = [
  ...["/", "//", "/.", "/%2e", "/%2E/", "/./.", "/zz/..", "/zz/%2e%2E", "/zz/.%2e/", "/a/b/../..", "/..", "/zz%2F.."]
    .map(
      atSlash,
    ),
  ...["\t", "\n", "\r\n"].map(atSlash),
  ...["localhost", "LOCALHOST", "LocalHost", "%6Cocalhost", "localhos%54", "loc\talhost"].map(withHost),
  ...["file:", "FILE://", "FiLe:/", "file:/", "file:\\\\", "fi\nle://"].filter((scheme) => scheme !== "file:/").map(
    asScheme,
  ),
  (uri) => uri.replace(PREFIX, `file:${TREE_BARE}`),
  (uri) => uri.replace(PREFIX, `file:///${TREE_BARE}`),
  (uri) => uri.replace(PREFIX, `file:////${TREE_BARE}`),
  (uri) => uri.replace(PREFIX, `file://${TREE_ENCODED}`),
  (uri) => uri.replace(PREFIX, `file:${TREE_BACKSLASHED}`),
  (uri) => ` ${uri}\n`,
  (uri) => `\u0001\t${uri} \u0000`,
  (uri) => tail(uri, (text) => text.replaceAll("/", "\\")),
  (uri) => tail(uri, (text) => text.replace(/\/(?!.*\/)/s, "%2F")),
  (uri) => tail(uri, (text) => text.replaceAll("/", "%2f").replace("%2f", "/")),
  (uri) => tail(uri, (text) => text.replaceAll("/", "//")),
  (uri) => tail(uri, (text) => text.replaceAll(/[a-z](?![0-9A-F])/g, escape)),
  (uri) => tail(uri, (text) => text.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())),
  (uri) => tail(uri, rawText),
  (uri) =>
    tail(uri, (text) => text.replaceAll(/%[2-7][0-9A-F]/g, (code) => String.fromCharCode(parseInt(code.slice(1), 16)))),
];

/** Without percent-encoding where UTF-8 allows it. */
function rawText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not UTF-8
  }
}

const FOREIGN_HOSTS = [
  "127.0.0.1",
  "[::1]",
  ".",
  "example.com",
  "EXAMPLE.com",
  "ex%61mple",
  "b\u00fccher.de",
  "xn--bcher-kva.de",
  "xn--",
  "a_b",
  "0x7f.1",
  "1",
  "256.1.1.1",
  "a b",
  "a%20b",
  "a%00b",
  "%zz",
  "[::1",
  "a<b",
  "a..b",
  "-",
  "localhost.",
  "localhost:",
  "localhost:80",
  ":80",
  "u@",
  "u@localhost",
  "u:p@example.com",
  "@",
  "\u00df",
  "a\u00adb",
];

/** Names another path, or none. */
const DIFFERENT: readonly Twist[] = [
  ...[
    "?",
    "?a=b",
    "#",
    "#f",
    "%00",
    "\u0000x",
    "%",
    "%z",
    "%2",
    "%%41",
    "%25",
    "%2e%2e%2f",
    "%FF",
    "+",
    "%20",
    " ",
    ";a=b",
  ].map(
    (end): Twist => (uri) => uri + end,
  ),
  ...["?x", "#x", "%00", "/%2F", "/%2F..%2F"].map(atSlash),
  ...FOREIGN_HOSTS.map(withHost),
  ...["", "//", "./", "~", "http://x", "data:,", "files://", "file+x://", "blob:file://", ":", "1:", "\u00e9:"].map(
    asScheme,
  ),
  ...[
    "file:///C:/x",
    "file://C:/x",
    "file://c:/x/../..",
    "file:///c%3A/x",
    "file:///%43:/x",
    "file:C:/x",
    "file:///C|/x",
    "file:///C:",
    "file:///C:x",
    "file:///z:/%",
    "C:\\x",
    "c:x",
    "a",
    "",
    ".",
    "~",
    "file",
    "\\\\srv\\x",
  ].map(constant),
  (uri) => `${uri}/${"x".repeat(256)}`,
  (uri) => uri + "/y".repeat(300),
  (uri) => uri + `/${"y".repeat(200)}`.repeat(20), // too long in all, but not in its parts
];

/** URIs of paths below the tree: mostly plain, now and then twisted once or twice. */
export function urisOf(paths: fc.Arbitrary<BytePath>): fc.Arbitrary<string> {
  const twist = fc.tuple(
    fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...EQUIVALENT) },
      { weight: 1, arbitrary: fc.constantFrom(...DIFFERENT) },
    ),
    fc.nat(9),
  );
  const twists = fc.oneof(
    { weight: 7, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(twist, { minLength: 1, maxLength: 2 }) },
  );
  return fc.tuple(paths, twists).map(([path, twists]) =>
    twists.reduce((uri, [twist, pick]) => twist(uri, pick), plainUri(path))
  );
}
