import assert from "node:assert/strict";
import { environmentUrl } from "../../../lib/relay/registry/environment_url.ts";
import { RegistryHttp, type RegistryRequest } from "../../../lib/relay/registry/registry_http.ts";
import { closeTcp } from "../../client/support/raw_websocket_server.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const REQUEST: RegistryRequest = {
  action: "register",
  body: new TextEncoder().encode("{}"),
  headers: { "authorization": "Bearer secret" },
  signal: new AbortController().signal,
  timeoutMs: 10_000,
  wantsBody: () => true,
};

/** A registry that answers each connection with these bytes, once the head of the request is there. */
function rawRegistry(answer: (request: string) => string | Promise<string>) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    const answers: Promise<void>[] = [];
    for await (const tcp of listener) {
      answers.push((async () => {
        const chunk = new Uint8Array(4096);
        let request = "";
        while (!request.includes("\r\n\r\n{}")) {
          const count = await tcp.read(chunk);
          if (count === null) break;
          request += new TextDecoder().decode(chunk.subarray(0, count));
        }
        await tcp.write(new TextEncoder().encode(await answer(request)));
        closeTcp(tcp);
      })());
    }
    await Promise.all(answers);
  })();
  return {
    http: new RegistryHttp(environmentUrl(`http://127.0.0.1:${listener.addr.port}`, "e")),
    url: `http://127.0.0.1:${listener.addr.port}/cloud/environment/e/register`,
    [Symbol.asyncDispose]: async () => {
      listener.close();
      await serving;
    },
  };
}

const answer = (status: string, body: string, length = body.length) =>
  `HTTP/1.1 ${status}\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${body}`;

Deno.test("a request to a registry is a POST of JSON that does not say which program makes it", async () => {
  let head = "";
  await using registry = rawRegistry((request) => {
    head = request;
    return answer("200 OK", "yes");
  });
  assert.deepEqual(await registry.http.post(REQUEST), { status: 200, body: "yes" });
  const [line, ...headers] = head.split("\r\n");
  assert.equal(line, "POST /cloud/environment/e/register HTTP/1.1");
  const names = headers.map((header) => header.toLowerCase());
  for (const expected of ["content-type: application/json", "accept: */*", "authorization: bearer secret"]) {
    assert.ok(names.includes(expected), expected);
  }
  assert.ok(names.every((name) => !name.startsWith("user-agent:") || name.trim() === "user-agent:"));
});

Deno.test("another client's fetch is called as a function, with what the platform's would get", async () => {
  const calls: unknown[] = [];
  const http = new RegistryHttp(environmentUrl("https://h", "e"), function (this: unknown, url, init) {
    calls.push([this, url, init.method, init.redirect]);
    return Promise.resolve(new Response("yes"));
  });
  assert.deepEqual(await http.post(REQUEST), { status: 200, body: "yes" });
  assert.deepEqual(calls, [[undefined, "https://h/cloud/environment/e/register", "POST", "manual"]]);
});

Deno.test("a redirect is not followed", async () => {
  await using registry = rawRegistry(() =>
    "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
  );
  assert.deepEqual(await registry.http.post(REQUEST), { status: 302, body: "" });
});

Deno.test("a body that nobody wants is not read", async () => {
  await using registry = rawRegistry(() => answer("403 No", "the beginning", 1_000_000));
  const wantsBody = (status: number) => status === 200;
  assert.deepEqual(await registry.http.post({ ...REQUEST, wantsBody }), { status: 403, body: "" });
});

Deno.test("a body that ends early, or is too long, is told as a defect", async () => {
  await using broken = rawRegistry(() => answer("200 OK", "{", 100));
  const { defect, ...rest } = await broken.http.post(REQUEST);
  assert.deepEqual(rest, { status: 200, body: "" });
  assert.equal(defect!.message, "environment registry request failed: error decoding response body");
  assert.equal(defect!.retryable, true);

  await using endless = rawRegistry(() => answer("200 OK", "x".repeat(1_048_577)));
  const long = await endless.http.post(REQUEST);
  const message = "environment registry request failed: the answer is longer than 1048576 bytes";
  assert.equal(long.defect!.message, message);
  await using full = rawRegistry(() => answer("200 OK", "x".repeat(1_048_576)));
  assert.equal((await full.http.post(REQUEST)).defect, undefined);
});

Deno.test("a registry that cannot be reached, or speaks no HTTP, is told with the URL", async () => {
  await using registry = rawRegistry(() => "garbage\r\n\r\n");
  const message = `environment registry request failed: error sending request for url (${registry.url})`;
  await assert.rejects(registry.http.post(REQUEST), { kind: "request", message, retryable: true, retry: undefined });
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  const nobody = new RegistryHttp(environmentUrl(`http://user:secret@127.0.0.1:${listener.addr.port}`, "e"));
  const url = `http://127.0.0.1:${listener.addr.port}/cloud/environment/e/register`;
  await assert.rejects(nobody.post(REQUEST), {
    message: `environment registry request failed: error sending request for url (${url})`,
  });
});

Deno.test("an exchange that takes too long is given up, also within the body and if fetch does not listen", async () => {
  const clock = new ManualClock();
  const place = environmentUrl("http://127.0.0.1", "e");
  const timedOut = {
    kind: "request",
    message: "environment registry request failed: route-aware request timed out",
    retryable: true,
  };
  const deaf = new RegistryHttp(place, () => new Promise(() => {}), clock);
  let post = deaf.post(REQUEST);
  clock.advance(9_999);
  assert.equal(clock.pendingTimers, 1);
  clock.advance(1);
  await assert.rejects(post, timedOut);

  const reading = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  const body = new ReadableStream({ pull: () => reading.resolve(), cancel: () => cancelled.resolve() }, {
    highWaterMark: 0,
  });
  const silent = new RegistryHttp(place, () => Promise.resolve(new Response(body)), clock);
  post = silent.post(REQUEST);
  await reading.promise;
  clock.advance(10_000);
  await assert.rejects(post, timedOut);
  await cancelled.promise;
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("a request ends with its signal, and with the signal's reason", async () => {
  const reached = Promise.withResolvers<void>();
  const over = Promise.withResolvers<string>();
  await using registry = rawRegistry(() => {
    reached.resolve();
    return over.promise;
  });
  const aborter = new AbortController();
  const post = registry.http.post({ ...REQUEST, signal: aborter.signal });
  await reached.promise;
  aborter.abort(new Error("not wanted any more"));
  await assert.rejects(post, { message: "not wanted any more" });
  over.resolve("");
  await assert.rejects(registry.http.post({ ...REQUEST, signal: aborter.signal }), { message: "not wanted any more" });
});

Deno.test("an answer that comes when nobody waits any more is let go", async () => {
  const clock = new ManualClock();
  const late = Promise.withResolvers<Response>();
  const cancelled = Promise.withResolvers<void>();
  const http = new RegistryHttp(environmentUrl("http://127.0.0.1", "e"), () => late.promise, clock);
  const post = http.post(REQUEST);
  clock.advance(10_000);
  await assert.rejects(post, { kind: "request" });
  late.resolve(new Response(new ReadableStream({ cancel: () => cancelled.resolve() })));
  await cancelled.promise;
});
