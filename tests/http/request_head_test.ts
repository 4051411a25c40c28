import assert from "node:assert/strict";
import { requestBytes } from "../../lib/http/request_head.ts";
import { bytesToText } from "../../lib/http/bytes.ts";
import { request } from "./ask.ts";

type Options = Parameters<typeof request>[1];

/** The request as it leaves: the lines of its head, and what follows. */
function sent(url: string, options: Options = {}, proxy: { authorization?: string } | null = null) {
  const { head, body, persistent } = requestBytes(
    request(url, options),
    proxy === null ? undefined : { secure: false, hostname: "p", port: 1, authorization: proxy.authorization },
    "zstd,gzip",
  );
  const lines = bytesToText(head).split("\r\n");
  assert.deepEqual(lines.slice(-2), ["", ""]);
  return { head: lines.slice(0, -2), body: bytesToText(body), persistent };
}

Deno.test("a request has the caller's headers first, and no others than those of the wire", () => {
  assert.deepEqual(sent("http://h/p?q#f", { headers: [["a", "1"], ["b", "2"], ["a", "3"]] }).head, [
    "GET /p?q HTTP/1.1",
    "a: 1",
    "a: 3",
    "b: 2",
    "accept: */*",
    "accept-encoding: zstd,gzip",
    "host: h",
  ]);
});

Deno.test("a request keeps what the caller says of accept, accept-encoding and host, in its place", () => {
  const headers: [string, string][] = [["host", "x"], ["accept-encoding", ""], ["z", "1"], ["accept", "a"], [
    "accept",
    "b",
  ]];
  assert.deepEqual(sent("http://h:8/", { headers }).head, [
    "GET / HTTP/1.1",
    "host: x",
    "accept-encoding: ",
    "z: 1",
    "accept: a",
    "accept: b",
  ]);
});

Deno.test("a request tells the length of a body, and of none nothing", () => {
  const length = (options: Options) =>
    sent("http://h/", options).head.find((line) => line.startsWith("content-length"));
  assert.equal(length({ method: "POST", body: "hello" }), "content-length: 5");
  assert.equal(length({ method: "GET", body: "hello" }), "content-length: 5");
  assert.equal(length({ method: "POST" }), undefined);
  assert.equal(length({ method: "POST", headers: [["content-length", "0"]] }), "content-length: 0");
});

Deno.test("a content-length of the caller counts where it is one: never are there two opinions on the end of the body", () => {
  const post = (...values: string[]) =>
    sent("http://h/", { method: "POST", body: "hello", headers: values.map((value) => ["content-length", value]) });
  assert.equal(post("3").body, "hel");
  assert.deepEqual(post("5", "5").head.slice(1, 3), ["content-length: 5", "content-length: 5"]);
  for (const values of [["5", "6"], ["x"], ["-5"], ["5, 6"], ["99999999999999999999"]]) {
    assert.deepEqual(post(...values).head.slice(1), [
      "content-length: 5",
      "accept: */*",
      "accept-encoding: zstd,gzip",
      "host: h",
    ]);
    assert.equal(post(...values).body, "hello");
  }
  assert.throws(() => post("6"), RangeError);
  const none = sent("http://h/", { headers: [["content-length", "x"]] });
  assert.ok(!none.head.some((line) => line.startsWith("content-length")));
});

Deno.test("a transfer-encoding of the caller ends in chunked, and stands alone", () => {
  const post = (headers: [string, string][], body = "0123456789012345") =>
    sent("http://h/", { method: "POST", body, headers });
  assert.deepEqual(post([["transfer-encoding", "gzip"], ["content-length", "16"]]), {
    head: [
      "POST / HTTP/1.1",
      "transfer-encoding: gzip, chunked",
      "host: h",
      "accept: */*",
      "accept-encoding: zstd,gzip",
    ],
    body: "10\r\n0123456789012345\r\n0\r\n\r\n",
    persistent: true,
  });
  assert.equal(post([["transfer-encoding", "Chunked"]]).head[1], "transfer-encoding: Chunked");
  assert.ok(!post([["transfer-encoding", "chunked"]], "").head.some((line) => line.startsWith("transfer-encoding")));
});

Deno.test("a request that ends its connection says only that", () => {
  const { head, persistent } = sent("http://h/", { headers: [["connection", "x, Close"], ["connection", "y"]] });
  assert.equal(head[1], "connection: close");
  assert.equal(persistent, false);
  assert.equal(sent("http://h/", { headers: [["connection", "closed"]] }).persistent, true);
});

Deno.test("the first line names the path, the whole URL for a proxy, and the host for CONNECT", () => {
  const line = (url: string, method: string, proxy: { authorization?: string } | null = null) =>
    sent(url, { method }, proxy).head[0];
  assert.equal(line("http://u:p@h:8", "OPTIONS"), "OPTIONS / HTTP/1.1");
  assert.equal(line("http://u:p@h:80/a b?c d#e", "GET", {}), "GET http://h/a%20b?c%20d HTTP/1.1");
  assert.equal(line("http://[::1]:8/", "GET", {}), "GET http://[::1]:8/ HTTP/1.1");
  assert.equal(line("http://h:8/a", "CONNECT"), "CONNECT h:8 HTTP/1.1");
});

Deno.test("a proxy gets its credentials, unless the caller has some", () => {
  const proxy = { authorization: "Basic eA==" };
  assert.deepEqual(sent("http://h/", { headers: [["x", "y"]] }, proxy).head.slice(1, 4), [
    "x: y",
    "accept: */*",
    "proxy-authorization: Basic eA==",
  ]);
  const own = sent("http://h/", { headers: [["proxy-authorization", "mine"]] }, proxy).head;
  assert.deepEqual(own.filter((line) => line.startsWith("proxy-")), ["proxy-authorization: mine"]);
});
