import assert from "node:assert/strict";
import { eventually, inTime } from "../../program/eventually.ts";
import type { MessageLink, WireMessage } from "../support/message_proxy.ts";
import type { Case } from "./case.ts";
import { through } from "./through.ts";

/** A web server of the case's own. */
function webServer(handler: (request: Request) => Response | Promise<Response>) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, handler);
  return { url: `http://127.0.0.1:${server.addr.port}`, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** Speaks without an end. */
function endless(): Response {
  let timer: ReturnType<typeof setInterval>;
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(() => controller.enqueue(new TextEncoder().encode("tick\n")), 5);
    },
    cancel: () => clearInterval(timer),
  });
  return new Response(stream);
}

type Delta = WireMessage & { params: { requestId: string; seq: number; done?: boolean } };

function isDelta(message: WireMessage): message is Delta {
  return message.method === "http/request/bodyDelta";
}

/** Replaces the second delta of each body. */
function secondDelta(replace: (delta: Delta) => object) {
  return (message: WireMessage, link: MessageLink): WireMessage | undefined => {
    if (!isDelta(message) || message.params.seq !== 2) return message;
    link.toClient({ ...message, params: replace(message) });
    return undefined;
  };
}

export const HTTP: readonly Case[] = [
  {
    name: "a request goes out with method, headers and body, and a real Response comes back",
    async run(place) {
      await using web = webServer(async (request) => {
        const body = `${request.method} ${request.headers.get("x-test")} ${await request.text()}`;
        return new Response(body, { status: 201, headers: { "x-answer": "yes" } });
      });
      await using proxied = await through(place);
      const response = await proxied.client.fetch(`${web.url}/path?query`, {
        method: "POST",
        headers: { "x-test": "value" },
        body: "hello",
      });
      assert.ok(response instanceof Response);
      assert.deepEqual([response.status, response.ok, response.headers.get("x-answer")], [201, true, "yes"]);
      assert.equal(await response.text(), "POST value hello");
    },
  },
  {
    name: "names of streamed requests count over the client's life, also over a reconnect",
    async run(place) {
      await using web = webServer(() => new Response("body"));
      await using proxied = await through(place);
      const { client, messages, wire } = proxied;
      assert.equal(await (await client.fetch(web.url)).text(), "body");
      wire.cut();
      await client.call("environment/status", null).catch(() => {});
      assert.equal(await (await client.fetch(web.url)).text(), "body");
      const names = messages.requests("http/request").map(({ params }) => (params as { requestId: string }).requestId);
      assert.deepEqual(names, ["http-1", "http-2"]);
    },
  },
  {
    name: "a body whose connection is lost fails at once, what came before it is read, and nothing is asked again",
    async run(place) {
      await using web = webServer(endless);
      await using proxied = await through(place);
      const { client, messages, wire } = proxied;
      const response = await client.fetch(web.url);
      const reader = response.body!.getReader();
      await reader.read();
      wire.cut();
      const rest = async () => {
        while (!(await reader.read()).done);
      };
      await assert.rejects(inTime("the end", rest()), {
        name: "ClientError",
        kind: "disconnected",
        message:
          /^exec-server protocol error: http response stream `http-1` failed: exec-server transport disconnected/,
      });
      await client.call("environment/status", null);
      assert.equal(messages.requests("http/request").length, 1);
    },
  },
  {
    name: "deltas out of order, failures that the server tells, and what is no delta have their own words",
    async run(place) {
      const wrongs = [
        [{ seq: 7 }, "exec-server protocol error: http response stream `http-1` received seq 7, expected 2"],
        [{ error: "it broke" }, "exec-server protocol error: http response stream `http-1` failed: it broke"],
      ] as const;
      for (const [wrong, message] of wrongs) {
        await using web = webServer(() => new Response("x".repeat(100)));
        await using proxied = await through(place, {
          toClient: secondDelta(({ params }) => ({ ...params, ...wrong })),
        });
        const response = await proxied.client.fetch(web.url);
        await assert.rejects(inTime("the end", response.text()), { name: "ClientError", message });
        assert.equal((await proxied.client.call("environment/status", null)).status, "ready");
        assert.equal(proxied.losses(), 0);
      }
    },
  },
  {
    name: "a delta of more than 1 MiB costs the connection",
    async run(place) {
      const deltaBase64 = new Uint8Array(1024 * 1024 + 1).toBase64();
      await using web = webServer(() => new Response("x".repeat(100)));
      await using proxied = await through(place, {
        toClient: secondDelta(({ params }) => ({ ...params, deltaBase64 })),
      });
      const response = await proxied.client.fetch(web.url);
      await assert.rejects(inTime("the end", response.text()), {
        message: /http response body delta exceeds 1048576 bytes/,
      });
      await eventually("it is lost", () => assert.equal(proxied.losses(), 1));
    },
  },
  {
    name: "a large body that comes faster than it is read arrives whole",
    async run(place) {
      const mebibytes = 40;
      await using web = webServer(() => {
        let sent = 0;
        return new Response(
          new ReadableStream<Uint8Array>({
            pull(controller) {
              if (sent === mebibytes) return controller.close();
              controller.enqueue(new Uint8Array(1024 * 1024).fill(sent++));
            },
          }),
        );
      });
      await using proxied = await through(place);
      const response = await proxied.client.fetch(web.url);
      let length = 0;
      for await (const bytes of response.body!) {
        assert.equal(bytes[0], Math.floor(length / 1024 / 1024));
        length += bytes.length;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      assert.equal(length, mebibytes * 1024 * 1024);
    },
  },
  {
    name: "a body that is given up is not waited for, and its later deltas are ignored",
    async run(place) {
      await using web = webServer(endless);
      await using proxied = await through(place);
      const response = await proxied.client.fetch(web.url);
      await response.body!.cancel();
      assert.equal(
        await (await proxied.client.fetch(`${web.url}`)).body!.getReader().read().then(({ done }) => done),
        false,
      );
      assert.equal(proxied.losses(), 0);
    },
  },
  {
    name: "a server that cannot be reached is a clear failure",
    async run(place) {
      await using proxied = await through(place);
      await assert.rejects(proxied.client.fetch("http://127.0.0.1:1/"), { name: "ClientError" });
    },
  },
];
