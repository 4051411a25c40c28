/** What becomes of a connection whose peer is gone without a word. It takes a minute, beside the slow recordings. */
import assert from "node:assert/strict";
import { ownProgram, RunningServer } from "./target.ts";
import { WebSocketClient } from "./websocket_client.ts";
import { OPCODE } from "./websocket_frames.ts";
import { Workspace } from "./workspace.ts";

/** A ping after 30 s, and 30 s for the answer; the rest only bounds a failure. */
const PATIENCE_MS = 120_000;

interface Reply {
  readonly id: number;
  readonly result?: { readonly sessionId: string };
  readonly error?: { readonly code: number };
}

async function initialize(client: WebSocketClient, resumeSessionId: string | null): Promise<Reply> {
  const message = { id: 1, method: "initialize", params: { clientName: "silent", resumeSessionId } };
  await client.frame(OPCODE.text, new TextEncoder().encode(JSON.stringify(message)));
  return await client.inbox.until(() => client.inbox.replies.shift()?.message as Reply | undefined, () => "reply");
}

Deno.test("a peer that answers no ping is detached, and its session can be resumed", async () => {
  await using workspace = await Workspace.create();
  await using server = await RunningServer.start(ownProgram().words, workspace);
  await using silent = await WebSocketClient.connect(server.url, { pongs: false });
  const sessionId = (await initialize(silent, null)).result!.sessionId;
  await using other = await WebSocketClient.connect(server.url, { pongs: true });
  assert.equal((await initialize(other, sessionId)).error?.code, -32010);
  await silent.inbox.ended(PATIENCE_MS);
  assert.equal(silent.inbox.pings.length, 1);
  assert.equal((await initialize(other, sessionId)).result?.sessionId, sessionId);
});
