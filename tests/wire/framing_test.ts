/** What no recording shows of WebSocket framing, against our program. */
import assert from "node:assert/strict";
import { ownProgram, RunningServer } from "./target.ts";
import { WebSocketClient } from "./websocket_client.ts";
import { encodeFrame, OPCODE } from "./websocket_frames.ts";
import { Workspace } from "./workspace.ts";

const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

async function withClient(body: (client: WebSocketClient) => Promise<void>): Promise<void> {
  await using workspace = await Workspace.create();
  await using server = await RunningServer.start(ownProgram().words, workspace);
  await using client = await WebSocketClient.connect(server.url, { pongs: true });
  await body(client);
}

async function reply(client: WebSocketClient): Promise<unknown> {
  return await client.inbox.until(() => client.inbox.replies.shift()?.message, () => "reply");
}

Deno.test("a frame larger than the reference's 16 MiB is one message", () =>
  withClient(async (client) => {
    await client.frame(OPCODE.text, text({ id: 1, method: "nope", params: "a".repeat(17 * 1024 * 1024) }));
    const error = { code: -32601, message: "exec-server stub does not implement `nope` yet" };
    assert.deepEqual(await reply(client), { error, id: 1 });
  }));

Deno.test("a frame cut into single bytes is one message", () =>
  withClient(async (client) => {
    for (const byte of encodeFrame(OPCODE.text, text({ id: 1, method: "nope" }))) {
      await client.bytes(Uint8Array.of(byte));
    }
    assert.equal((await reply(client) as { id: unknown }).id, 1);
  }));

Deno.test("a reserved opcode ends the connection without a message", () =>
  withClient(async (client) => {
    await client.frame(3, text({ id: 1, method: "nope" }));
    await client.inbox.ended();
    assert.deepEqual(client.inbox.replies, []);
  }));
