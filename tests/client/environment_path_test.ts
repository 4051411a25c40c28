import assert from "node:assert/strict";
import fc from "fast-check";
import { isUri, type PathContext, toPathUri } from "../../lib/client/environment_path.ts";
import { normalized } from "../../lib/native_path.ts";
import { PathUri } from "../../lib/path_uri.ts";

const LINUX: PathContext = { cwd: "file:///home/ann%20lee", platformOs: "linux" };
const WINDOWS: PathContext = { cwd: "file:///C:/Users/Ann", platformOs: "windows" };
const NOWHERE: PathContext = { cwd: null, platformOs: "linux" };

function uris(
  paths: readonly (readonly [path: string | URL | PathUri, uri: string])[],
  environment: PathContext,
): void {
  for (const [path, uri] of paths) assert.equal(toPathUri(path, environment).text, uri, String(path));
}

Deno.test("toPathUri makes URIs of absolute paths of Unix", () => {
  uris([
    ["/", "file:///"],
    ["/a/b c/d", "file:///a/b%20c/d"],
    ["/a//b/./c/../d/", "file:///a/b/d"],
    ["/../..", "file:///"],
    ['/100% é?#`{}<>"|^\\~\n', "file:///100%25%20%C3%A9%3F%23%60%7B%7D%3C%3E%22|^%5C~%0A"],
    ["/a%2Fb", "file:///a%252Fb"],
    ["/c|/x", "file:///c|/x"],
  ], LINUX);
});

Deno.test("toPathUri resolves relative paths against the environment's own directory", () => {
  uris([
    [".", "file:///home/ann%20lee"],
    ["x y", "file:///home/ann%20lee/x%20y"],
    ["../bob", "file:///home/bob"],
    ["./file:/x", "file:///home/ann%20lee/file:/x"],
    ["C:\\x", "file:///home/ann%20lee/C:%5Cx"],
  ], LINUX);
  uris([["a", "file:///a"]], { cwd: "file:///", platformOs: "macos" });
});

Deno.test("toPathUri leaves URIs as they are", () => {
  uris([
    ["file:///a%20b/../c", "file:///c"],
    ["FILE:///a", "file:///a"],
    [new URL("file:///bad%FFname"), "file:///bad%FFname"],
    [PathUri.parse("file:///x"), "file:///x"],
  ], NOWHERE);
  assert.ok(isUri("file:///a") && isUri(new URL("file:///")) && !isUri("file:a") && !isUri("/file://"));
});

Deno.test("toPathUri makes URIs of paths of Windows", () => {
  uris([
    ["C:\\", "file:///C:/"],
    ["d:\\a b\\..\\c", "file:///D:/c"],
    ["C:/x/y", "file:///C:/x/y"],
    ["x\\y", "file:///C:/Users/Ann/x/y"],
    ["..", "file:///C:/Users/"],
    ["\\top", "file:///C:/top"],
    ["/top", "file:///C:/top"],
    ["c:here", "file:///C:/Users/Ann/here"],
    ["C:\\\\a\\\\b\\", "file:///C:/a/b"],
    ["\\\\server\\share\\dir\\x", "file://server/share/dir/x"],
    ["\\\\?\\C:\\long", "file:///C:/long"],
    ["\\\\?\\UNC\\server\\share\\x", "file://server/share/x"],
    ["file:///D:/a", "file:///D:/a"],
  ], WINDOWS);
  uris([["x", "file://server/share/x"], ["\\x", "file://server/share/x"]], {
    cwd: "file://server/share",
    platformOs: "windows",
  });
});

Deno.test("toPathUri takes the system of a server that does not tell it from its directory", () => {
  uris([["a\\b", "file:///C:/w/a/b"]], { cwd: "file:///C:/w", platformOs: null });
  uris([["a\\b", "file:///w/a%5Cb"]], { cwd: "file:///w", platformOs: null });
  uris([["/a\\b", "file:///a%5Cb"]], { cwd: null, platformOs: null });
});

Deno.test("toPathUri refuses what is no path there, and names it", () => {
  const refusals: readonly [string | URL, PathContext, RegExp][] = [
    ["", LINUX, /must not be empty/],
    ["/a\0b", LINUX, /"\/a\\u0000b" holds a NUL/],
    ["/\ud800", LINUX, /not well-formed/],
    ["a", NOWHERE, /"a" is relative, and the environment has no directory/],
    [new URL("https://example.com/x"), LINUX, /"https:\/\/example.com\/x" .*unsupported path URI scheme `https`/],
    ["file:///a?b", LINUX, /query parameters are not allowed/],
    ["file:///%00", LINUX, /is invalid on 'linux'/],
    ["D:x", WINDOWS, /relative to a directory that is not known/],
    ["\\\\.\\pipe\\x", WINDOWS, /names a device/],
    ["\\\\localhost\\share", WINDOWS, /is invalid on 'windows'/],
    ["x", { cwd: null, platformOs: "windows" }, /is relative/],
  ];
  for (const [path, environment, message] of refusals) {
    assert.throws(() => toPathUri(path, environment), { name: "TypeError", message }, String(path));
  }
});

const name = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !text.includes("\0"));
const path = fc.array(fc.oneof(name, fc.constantFrom(".", "..", "", "C:", "c|", "%41", "a b")), { minLength: 1 });

Deno.test("what a server makes of the URI is the path that was meant", () => {
  fc.assert(fc.property(path, fc.boolean(), (names, isAbsolute) => {
    const text = (isAbsolute ? "/" : "") + names.join("/");
    // A drive as the first name is what no server but Windows takes; a URI is none of these paths.
    fc.pre(text !== "" && !isUri(text));
    const meant = normalized(new TextEncoder().encode(text.startsWith("/") ? text : `/home/ann lee/${text}`));
    fc.pre(!/^\/[a-z]:(\/|$)/i.test(new TextDecoder().decode(meant)));
    const sent = toPathUri(text, LINUX).text;
    assert.match(sent, /^file:\/\/\/[\x21-\x7e]*$/);
    assert.deepEqual(PathUri.parse(sent, "linux").toNative("linux"), meant);
    // The platform's own parser finds nothing to change in it either.
    assert.equal(new URL(sent).href, sent);
  }));
});
