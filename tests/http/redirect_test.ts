import assert from "node:assert/strict";
import { HeaderMap } from "../../lib/http/header_map.ts";
import { redirected, redirectTarget } from "../../lib/http/redirect.ts";
import { bytesToText } from "../../lib/http/bytes.ts";
import { request } from "./ask.ts";

const FROM = new URL("http://u:p@h:8/a/b?q=1#f");

function target(location: string | null, status = 302): string | undefined {
  const headers = HeaderMap.from(location === null ? [] : [["location", location]]);
  return redirectTarget(FROM, status, headers)?.href;
}

Deno.test("five statuses with a location are redirects", () => {
  for (const status of [301, 302, 303, 307, 308]) assert.equal(target("/x", status), "http://h:8/x");
  for (const status of [200, 201, 300, 304, 305, 306, 309, 399]) assert.equal(target("/x", status), undefined);
  assert.equal(target(null), undefined);
});

Deno.test("a location is read relative to the URL that was asked for; user and password do not follow", () => {
  assert.equal(target("c"), "http://h:8/a/c");
  assert.equal(target("?z"), "http://h:8/a/b?z");
  assert.equal(target("//other/x"), "http://other/x");
  assert.equal(target("/x#new"), "http://h:8/x#new");
  assert.equal(target("https://v:w@other/x"), "https://other/x");
  assert.equal(target("ftp://other/x"), "ftp://other/x");
});

Deno.test("a location that is no URL, or not ASCII, is left to the caller", () => {
  for (const location of ["http://", "http://[", "http:///", "/\xe9", "/\xc3\xa9"]) {
    assert.equal(target(location), undefined, location);
  }
});

Deno.test("the first of several locations counts", () => {
  const headers = HeaderMap.from([["location", "/1"], ["location", "/2"]]);
  assert.equal(redirectTarget(FROM, 302, headers)?.pathname, "/1");
});

function follow(status: number, to: string, options: Parameters<typeof request>[1] = {}) {
  const next = redirected(request(FROM.href, options), status, new URL(to));
  return {
    method: next.method,
    url: next.url.href,
    headers: [...next.headers].map(([name, value]) => `${name}: ${value}`),
    body: bytesToText(next.body),
  };
}

Deno.test("303, and 301 and 302 after POST, turn into a GET without body; all else is repeated", () => {
  const becomes = (status: number, method: string) => {
    const next = follow(status, "http://h:8/x", { method, body: "b", headers: [["content-type", "t"]] });
    return `${next.method} ${next.body} ${next.headers[0]}`;
  };
  const referer = "referer: http://h:8/a/b?q=1";
  for (const status of [301, 302]) {
    assert.equal(becomes(status, "POST"), `GET  ${referer}`);
    for (const method of ["PUT", "GET", "post"]) assert.equal(becomes(status, method), `${method} b content-type: t`);
  }
  for (const method of ["POST", "PUT", "GET", "DELETE"]) assert.equal(becomes(303, method), `GET  ${referer}`);
  assert.equal(becomes(303, "HEAD"), `HEAD  ${referer}`);
  for (const status of [307, 308]) assert.equal(becomes(status, "POST"), "POST b content-type: t");
});

Deno.test("what describes a body goes with it, in the order that the reference leaves behind", () => {
  const names = ["authorization", "content-type", "content-encoding", "content-language", "content-length", "x"];
  const headers = [...names, "transfer-encoding", "y", "z"].map((name): [string, string] => [name, "v"]);
  assert.deepEqual(follow(302, "http://h:8/x", { method: "POST", headers }).headers, [
    "authorization: v",
    "z: v",
    "x: v",
    "content-language: v",
    "y: v",
    "referer: http://h:8/a/b?q=1",
  ]);
});

Deno.test("what was meant for one place stays there", () => {
  const secret = ["authorization", "cookie", "proxy-authorization", "www-authenticate", "cookie2"];
  const headers = secret.map((name): [string, string] => [name, "v"]);
  const kept = (to: string) => follow(302, to, { headers }).headers.filter((line) => !line.startsWith("referer"));
  assert.equal(kept("http://h:8/x").length, secret.length);
  for (const to of ["http://h:9/x", "http://other:8/x", "https://h:8/x", "http://sub.h:8/x"]) {
    assert.deepEqual(kept(to), []);
  }
});

Deno.test("a referer tells the whole URL to the same origin, the origin to another, and nothing from https to http", () => {
  const referer = (from: string, to: string) =>
    redirected(request(from, { headers: [["referer", "mine"]] }), 302, new URL(to)).headers.all("referer");
  assert.deepEqual(referer("http://u:p@h:8/a?b#c", "http://h:8/x"), ["http://h:8/a?b"]);
  assert.deepEqual(referer("http://u:p@h:8/a?b#c", "http://h:9/x"), ["http://h:8/"]);
  assert.deepEqual(referer("http://h/a", "https://h/x"), ["http://h/"]);
  assert.deepEqual(referer("https://h/a", "http://h/x"), []);
});
