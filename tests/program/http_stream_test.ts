import assert from "node:assert/strict";
import { RawPeer } from "../http/raw_peer.ts";
import { eventually } from "./eventually.ts";
import { streamBody } from "./http_stream.ts";
import { descriptors } from "./proc.ts";
import { RunningServer } from "./running_server.ts";

const ignore = Deno.build.os !== "linux";

Deno.test({
  name: "an HTTP body of 200 megabytes is streamed whole and in little memory",
  ignore,
  fn: () => streamBody(200 * 1024 * 1024),
});

Deno.test({
  name: "a client that is gone leaves none of its HTTP connections behind, used or kept",
  ignore,
  async fn() {
    await using peer = new RawPeer(async ({ path, send }) => {
      await send(`HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n${path === "/whole" ? "and whole" : "part"}`);
    });
    await using server = await RunningServer.start();
    const exchange = async (streams: number): Promise<void> => {
      await using client = await server.connect();
      await client.initialize();
      const ask = (requestId: string, path: string, streamResponse: boolean) =>
        client.request("http/request", { requestId, method: "GET", url: `${peer.url}${path}`, streamResponse });
      for (let number = 0; number < streams; number++) await ask(`part ${number}`, "/part", true);
      await Promise.all([ask("kept", "/whole", false), ask("kept", "/whole", false)]);
    };
    // The first one makes the server open what it keeps for good.
    await exchange(1);
    await peer.quiet();
    let before = descriptors(server.pid);
    await eventually("the first client is gone", () => {
      const now = descriptors(server.pid);
      const same = JSON.stringify(now) === JSON.stringify(before);
      before = now;
      assert.ok(same);
    });
    await exchange(60);
    await peer.quiet();
    await eventually("all is closed", () => assert.deepEqual(descriptors(server.pid), before));
    assert.equal(peer.seen.length, 65);
  },
});
