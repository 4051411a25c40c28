import assert from "node:assert/strict";
import { serverError } from "../../lib/client/client_error.ts";
import { MAX_REQUESTS_AWAITED } from "../../lib/client/limits.ts";
import { idle } from "../support/scripted_server.ts";
import { HttpServer } from "./support/http_server.ts";

const ok = () => ({ status: 200, headers: [] });
const decoder = new TextDecoder();

Deno.test("fetch sends what was asked for, and no more", async () => {
  const server = new HttpServer(ok);
  await server.fetch("http://example.com/a b?q#fragment");
  assert.deepEqual(server.sent, {
    method: "GET",
    url: "http://example.com/a%20b?q#fragment",
    headers: [],
    bodyBase64: null,
    redirectPolicy: "follow",
    requestId: "http-1",
    streamResponse: true,
  });
  await server.fetch(new URL("http://example.com"), {
    method: "post",
    headers: [["X-A", "1"], ["x-a", "2"], ["Content-Type", "text/odd"]],
    body: "hé",
    redirect: "manual",
    timeoutMs: 1500,
  });
  assert.deepEqual(server.sent, {
    method: "POST",
    url: "http://example.com/",
    headers: [{ name: "X-A", value: "1" }, { name: "x-a", value: "2" }, { name: "Content-Type", value: "text/odd" }],
    bodyBase64: "aMOp",
    timeoutMs: 1500,
    redirectPolicy: "stop",
    requestId: "http-2",
    streamResponse: true,
  });
});

Deno.test("fetch takes every kind of body, with the type that it implies", async () => {
  const server = new HttpServer(ok);
  const bytes = new Uint8Array([1, 2, 3]);
  const form = new FormData();
  form.append("a", "b");
  const typeOf = () => (server.sent["headers"] as { value: string }[])[0]?.value;
  const bodyOf = () => atob(String(server.sent["bodyBase64"]));
  for (
    const [body, text, type] of [
      ["text", "text", "text/plain;charset=UTF-8"],
      [bytes, "\x01\x02\x03", undefined],
      [bytes.subarray(1), "\x02\x03", undefined],
      [bytes.buffer, "\x01\x02\x03", undefined],
      [new Blob(["blob"], { type: "x/y" }), "blob", "x/y"],
      [new URLSearchParams({ a: "1 2" }), "a=1+2", "application/x-www-form-urlencoded;charset=UTF-8"],
      [new Blob(["stream"]).stream(), "stream", undefined],
      ["", "", "text/plain;charset=UTF-8"],
    ] as const
  ) {
    await server.fetch("http://h/", { method: "POST", body });
    assert.deepEqual([bodyOf(), typeOf()], [text, type]);
  }
  await server.fetch("http://h/", { method: "POST", body: form });
  assert.match(typeOf()!, /^multipart\/form-data; ?boundary=/);
  assert.match(bodyOf(), /name="a"\r\n\r\nb\r\n/);
});

Deno.test("fetch takes a Request, which its options override", async () => {
  const server = new HttpServer(ok);
  const request = () =>
    new Request("http://h/x", { method: "PUT", headers: { "x-a": "1" }, body: "abc", redirect: "error" });
  await server.fetch(request());
  assert.deepEqual([server.sent["method"], server.sent["bodyBase64"], server.sent["redirectPolicy"]], [
    "PUT",
    "YWJj",
    "stop",
  ]);
  const names = (server.sent["headers"] as { name: string }[]).map(({ name }) => name);
  assert.deepEqual(names.toSorted(), ["content-type", "x-a"]);
  await server.fetch(request(), { headers: { "x-b": "2" }, body: null, redirect: "follow", method: "patch" });
  assert.deepEqual([
    server.sent["method"],
    server.sent["bodyBase64"],
    server.sent["redirectPolicy"],
    server.sent["headers"],
  ], [
    "patch",
    null,
    "follow",
    [{ name: "x-b", value: "2" }],
  ]);
  const used = request();
  await used.text();
  await assert.rejects(server.fetch(used), { name: "TypeError" });
  await assert.rejects(server.fetch("/relative"), { name: "TypeError" });
  await assert.rejects(server.fetch("http://h/", { timeoutMs: 1.5 }), { name: "RangeError", message: /not 1.5/ });
  assert.equal(server.host.asked.length, 2);
});

Deno.test("fetch refuses a body that no message can carry", async () => {
  const server = new HttpServer(ok);
  const message = "HTTP request failed: the request's body is longer than the 12320768 bytes that one message carries";
  const body = new Uint8Array(13_000_000);
  for (const long of [body, new Blob([body]).stream()]) {
    await assert.rejects(server.fetch("http://h/", { method: "POST", body: long }), { kind: "http", message });
  }
  await assert.rejects(server.fetch(new Request("http://h/", { method: "POST", body })), { kind: "http", message });
  assert.deepEqual(server.host.asked, []);
});

Deno.test("a body that is a stream is given up with the fetch, and with the client", async () => {
  const server = new HttpServer(ok);
  const aborter = new AbortController();
  const cancelled: string[] = [];
  const stalled = () => new ReadableStream<Uint8Array>({ cancel: ({ message }) => void cancelled.push(message) });
  const aborted = server.fetch("http://h/", { method: "POST", body: stalled(), signal: aborter.signal });
  const ended = server.fetch("http://h/", { method: "POST", body: stalled() });
  aborter.abort(new Error("enough"));
  await assert.rejects(aborted, { message: "enough" });
  server.end.abort(new Error("the client has ended"));
  await assert.rejects(ended, { message: "the client has ended" });
  assert.deepEqual(cancelled, ["enough", "the client has ended"]);
  assert.deepEqual(server.host.asked, []);
});

Deno.test("a body that is a stream of something else than bytes is refused", async () => {
  const server = new HttpServer(ok);
  const texts = ReadableStream.from(["text"]) as ReadableStream<unknown> as ReadableStream<Uint8Array>;
  await assert.rejects(server.fetch("http://h/", { method: "POST", body: texts }), {
    name: "TypeError",
    message: "the stream holds something else than bytes",
  });
  assert.deepEqual(server.host.asked, []);
});

Deno.test("values of headers come from the server's variables, if it can do that", async () => {
  const able = new HttpServer(ok, { httpHeaderEnvVars: true });
  const init = { headers: { Authorization: "Bearer " }, headersFromEnv: { authorization: "TOKEN", "x-key": "KEY" } };
  await able.fetch("http://h/", init);
  assert.deepEqual(able.sent["headers"], [
    { name: "Authorization", value: "Bearer ", valueEnvVar: "TOKEN" },
    { name: "x-key", value: "", valueEnvVar: "KEY" },
  ]);
  const unable = new HttpServer(ok);
  await assert.rejects(unable.fetch("http://h/", init), { name: "ClientError", kind: "unsupported" });
  assert.deepEqual(unable.host.asked, []);
});

Deno.test("a response is a real one: status, headers, several cookies, a body that streams", async () => {
  const headers = [
    { name: "content-type", value: "text/plain" },
    { name: "set-cookie", value: "a=1; Path=/" },
    { name: "set-cookie", value: "b=2" },
  ];
  const server = new HttpServer(() => ({ status: 404, headers }));
  const response = await server.fetch("http://h/");
  assert.ok(response instanceof Response);
  assert.deepEqual([response.status, response.ok, response.url], [404, false, ""]);
  assert.deepEqual(response.headers.getSetCookie(), ["a=1; Path=/", "b=2"]);
  const reader = response.body!.getReader();
  const first = reader.read();
  server.send("one");
  assert.equal(decoder.decode((await first).value), "one");
  server.send("");
  server.send("two");
  server.send("three", { done: true });
  assert.equal(decoder.decode((await reader.read()).value), "two");
  assert.equal(decoder.decode((await reader.read()).value), "three");
  assert.equal((await reader.read()).done, true);
});

Deno.test("a body may come before its answer", async () => {
  const server = new HttpServer(() => {
    server.send("early");
    server.send("", { done: true });
    return ok();
  });
  assert.equal(await (await server.fetch("http://h/")).text(), "early");
});

Deno.test("statuses that have no body, and those that the constructor refuses, come as they are", async () => {
  for (const status of [101, 204, 205, 304]) {
    const server = new HttpServer(() => ({ status, headers: [] }));
    const response = await server.fetch("http://h/");
    assert.deepEqual([response.status, response.body, response.ok], [status, null, status === 204 || status === 205]);
    server.send("", { done: true });
  }
  const odd = new HttpServer(() => ({ status: 999, headers: [] }));
  const response = await odd.fetch("http://h/");
  odd.send("odd", { done: true });
  assert.deepEqual([response.status, response.ok, await response.text()], [999, false, "odd"]);
  const head = await new HttpServer(ok).fetch("http://h/", { method: "HEAD" });
  assert.equal(head.body, null);
});

Deno.test("an answer with a header that is none fails, and its body is forgotten", async () => {
  for (const [name, value] of [["a b", "x"], ["a", "b\nc"], ["snow", "\u2603"]] as const) {
    const heads = [{ status: 200, headers: [{ name, value }] }, ok()];
    const server = new HttpServer(() => heads.shift()!);
    await assert.rejects(server.fetch("http://h/"), {
      name: "ClientError",
      kind: "http",
      message: `HTTP request failed: the answer's header "${name}" is none`,
    });
    server.sendBytes(new Uint8Array(1024 * 1024));
    const response = await server.fetch("http://h/");
    // All the room that there is.
    for (let seq = 1; seq <= 16; seq++) server.sendBytes(new Uint8Array(1024 * 1024), { id: "http-2", seq });
    server.send("", { id: "http-2", seq: 17, done: true });
    assert.equal((await response.arrayBuffer()).byteLength, 16 * 1024 * 1024);
  }
});

Deno.test("a redirect is followed, handed over or an error, as asked", async () => {
  const server = new HttpServer(() => ({ status: 302, headers: [{ name: "location", value: "/there" }] }));
  const manual = await server.fetch("http://h/a#b", { redirect: "manual" });
  assert.deepEqual([manual.status, manual.url], [302, "http://h/a"]);
  await assert.rejects(server.fetch("http://h/", { redirect: "error" }), {
    name: "ClientError",
    kind: "http",
    message: "HTTP request failed: the answer is a redirect (302), which was not to be followed",
  });
  const found = new HttpServer(ok);
  assert.equal((await found.fetch("http://h/", { redirect: "error" })).status, 200);
});

Deno.test("what the server refuses is the caller's, and its body is forgotten", async () => {
  const server = new HttpServer(() => Promise.reject(serverError(-32603, "http/request failed: too many redirects")));
  await assert.rejects(server.fetch("http://h/"), {
    kind: "server",
    serverMessage: "http/request failed: too many redirects",
  });
  server.send("late");
});

Deno.test("aborting ends the wait for the head, and the body while it streams", async () => {
  const asked = Promise.withResolvers<void>();
  const never = new HttpServer((_, signal) => {
    asked.resolve();
    return new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason), { once: true }));
  });
  const early = AbortSignal.abort(new Error("enough"));
  await assert.rejects(never.fetch("http://h/", { signal: early }), { message: "enough" });
  assert.equal(never.host.asked.length, 0);
  const late = new AbortController();
  const waitingForHead = never.fetch("http://h/", { signal: late.signal });
  await asked.promise;
  late.abort(new Error("enough"));
  await assert.rejects(waitingForHead, { message: "enough" });
  const server = new HttpServer(ok);
  const aborter = new AbortController();
  const response = await server.fetch("http://h/", { signal: aborter.signal });
  const reader = response.body!.getReader();
  server.send("one");
  await reader.read();
  const waiting = reader.read();
  aborter.abort(new Error("enough"));
  await assert.rejects(waiting, { message: "enough" });
  server.send("late");
  const idle = await server.fetch(new Request("http://h/", { signal: new AbortController().signal }));
  await idle.body!.cancel();
  server.send("later", { id: "http-2", seq: 1 });
});

Deno.test("thousands of requests are made in turn; those that give up before their turn are not made", async () => {
  const answers: (() => void)[] = [];
  const server = new HttpServer(() =>
    new Promise((resolve) => answers.push(() => resolve({ status: 204, headers: [] })))
  );
  const aborter = new AbortController();
  const fetching = Array.from({ length: 1000 }, () => server.fetch("http://h/"));
  const late = assert.rejects(server.fetch("http://h/", { signal: aborter.signal }), { message: "enough" });
  while (answers.length < MAX_REQUESTS_AWAITED) await idle();
  aborter.abort(new Error("enough"));
  await late;
  assert.deepEqual([answers.length], [MAX_REQUESTS_AWAITED]);
  while (answers.length > 0) {
    answers.shift()!();
    if (answers.length === 0) await idle();
  }
  await Promise.all(fetching);
  assert.equal(server.host.asked.length, 1000);
});
