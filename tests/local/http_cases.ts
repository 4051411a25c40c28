import assert from "node:assert/strict";
import { type Answering, RawPeer } from "../http/raw_peer.ts";
import { type Case, type Failure, failureOf } from "./case.ts";

/** The peer of {@linkcode HTTP_CASES}. */
export function httpPeer(): RawPeer {
  return new RawPeer(async (answering) => await (PATHS[answering.path] ?? notFound)(answering));
}

const PATHS: Readonly<Record<string, (answering: Answering) => Promise<"close" | void>>> = {
  "/hello": ({ send }) =>
    send(
      head("200 OK", "content-type: text/plain", "set-cookie: a=1", "set-cookie: b=2", "content-length: 5") + "hello",
    ),
  "/echo": ({ request, send }) => {
    const text = [request.head[0], ...request.head.filter((line) => /^(content-|x-)/.test(line)), request.body].join(
      "|",
    );
    return send(head("200 OK", `content-length: ${text.length}`) + text);
  },
  "/none": ({ send }) => send(head("204 No Content")),
  "/odd": ({ send }) => send(head("299 Odd", "content-length: 0")),
  "/redirect": ({ send }) => send(head("302 Found", "location: /hello", "content-length: 0")),
  "/circle": ({ send }) => send(head("302 Found", "location: /circle", "content-length: 0")),
  "/chunks": async ({ send }) => {
    await send(head("200 OK", "transfer-encoding: chunked"));
    for (const piece of ["one", "two", "three"]) await send(`${piece.length.toString(16)}\r\n${piece}\r\n`);
    await send("0\r\n\r\n");
  },
  "/cut": async ({ send }) => {
    await send(head("200 OK", "content-length: 100") + "only this");
    return "close";
  },
  "/stall": async ({ send, hungUp }) => {
    await send(head("200 OK", "content-length: 100") + "first");
    await hungUp();
  },
  "/silence": ({ hungUp }) => hungUp(),
};

const notFound = ({ send }: Answering) => send(head("404 Not Found", "content-length: 0"));

function head(status: string, ...lines: string[]): string {
  return [`HTTP/1.1 ${status}`, ...lines, "", ""].join("\r\n");
}

export const HTTP_CASES: readonly Case[] = [
  {
    name: "fetch gives a whole response",
    async run({ environment, url }) {
      const response = await environment.fetch(`${url}/hello`);
      assert.deepEqual([response.status, response.ok, await response.text()], [200, true, "hello"]);
      assert.deepEqual(response.headers.getSetCookie(), ["a=1", "b=2"]);
      return [...response.headers];
    },
  },
  {
    name: "fetch sends methods, headers and bodies, and variables as values",
    async run({ environment, url }) {
      const echo = async (init: Parameters<typeof environment.fetch>[1]) =>
        await (await environment.fetch(`${url}/echo`, init)).text();
      const posted = await echo({ method: "post", body: "text", headers: { "X-A": "1" } });
      assert.match(posted, /^POST \/echo HTTP\/1.1\|.*x-a: 1.*\|text$/);
      return [
        posted,
        await echo({ method: "PUT", body: new Uint8Array(100_000).fill(65) }),
        await echo({ method: "PATCH", body: new Blob(["streamed"]).stream() }),
        await echo({ headers: { "x-a": "is " }, headersFromEnv: { "x-a": "CONFORMANCE" } }),
        await failureOf(() => echo({ headersFromEnv: { "x-a": "CONFORMANCE_UNSET" } })),
      ];
    },
  },
  {
    name: "statuses without a body, odd ones and redirects come as they are",
    async run({ environment, url }) {
      const statuses = [];
      for (const [path, redirect] of [["/none"], ["/odd"], ["/redirect", "manual"], ["/redirect", "follow"]] as const) {
        const response = await environment.fetch(url + path, redirect === undefined ? {} : { redirect });
        statuses.push([response.status, await response.text(), response.url.replace(url, "")]);
      }
      assert.deepEqual(statuses.map(([status]) => status), [204, 299, 302, 200]);
      return statuses;
    },
  },
  {
    name: "a body streams, and can be given up",
    async run({ environment, url }) {
      const response = await environment.fetch(`${url}/chunks`);
      let text = "";
      for await (const piece of response.body!) text += new TextDecoder().decode(piece);
      assert.equal(text, "onetwothree");
      const stalled = await environment.fetch(`${url}/stall`);
      const reader = stalled.body!.getReader();
      assert.equal(new TextDecoder().decode((await reader.read()).value), "first");
      await reader.cancel();
      const aborter = new AbortController();
      const aborted = await environment.fetch(`${url}/stall`, { signal: aborter.signal, timeoutMs: 60_000 });
      const reading = failureOf(() => aborted.text());
      aborter.abort(new Error("enough"));
      return [text, await reading];
    },
  },
  {
    name: "failures have the same words",
    async run({ environment: { fetch }, url }) {
      const failures: Failure[] = [];
      const aborter = new AbortController();
      for (
        const act of [
          () => fetch("http://127.0.0.1:1/"),
          () => fetch("ftp://127.0.0.1/"),
          () => fetch("/relative"),
          () => fetch(`${url}/hello`, { headers: { "bad name": "x" } }),
          () => fetch(`${url}/hello`, { headers: { "x-a": "bad\nvalue" } }),
          () => fetch(`${url}/hello`, { method: "bad method" }),
          () => fetch(`${url}/circle`),
          () => fetch(`${url}/redirect`, { redirect: "error" }),
          () => fetch(`${url}/silence`, { timeoutMs: 30 }),
          () => fetch(`${url}/hello`, { timeoutMs: 0 }),
          () => fetch(`${url}/hello`, { timeoutMs: -1 }),
          () => {
            // A server does one thing after the other, and cannot be told that nobody waits for this one any more.
            const fetching = fetch(`${url}/silence`, { signal: aborter.signal, timeoutMs: 100 });
            setTimeout(() => aborter.abort(new Error("enough")), 10);
            return fetching;
          },
        ]
      ) {
        const failure = await failureOf(act);
        assert.notEqual(failure, null, String(act));
        failures.push(withoutUrl(failure!, url));
      }
      for (const [path, init] of [["/cut"], ["/stall", { timeoutMs: 100 }]] as const) {
        const response = await fetch(url + path, init);
        const failure = await failureOf(() => response.text());
        assert.match(String(failure?.message), /failed: error decoding response body$/);
        failures.push(withoutUrl(failure!, url));
      }
      return failures;
    },
  },
];

/** Names of streams are counted by each environment; ports differ. */
function withoutUrl(failure: NonNullable<Failure>, url: string): Failure {
  const plain = (text: unknown) => String(text).replaceAll(url, "").replaceAll(/`http-\d+`/g, "`http-N`");
  return { ...failure, message: plain(failure.message), serverMessage: plain(failure.serverMessage) };
}
