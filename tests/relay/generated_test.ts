import assert from "node:assert/strict";
import { relayCodec } from "../../scripts/relay_codec.ts";

Deno.test("The codec of the relay's frames is what its script makes of the schema", async () => {
  const read = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
  const made = relayCodec(await read("proto/codex.exec_server.relay.v1.proto"));
  assert.equal(await read("lib/relay/generated/relay_frame.ts"), made);
});

Deno.test("relayCodec() refuses a schema with a kind of field that it cannot make code for", () => {
  const schema = (field: string) =>
    `syntax = "proto3"; package codex.exec_server.relay.v1; message RelayMessageFrame { ${field} }`;
  assert.throws(() => relayCodec(schema("double ratio = 1;")), /cannot make code for .*RelayMessageFrame.ratio/);
  assert.throws(() => relayCodec(schema("repeated uint32 list = 1;")), /cannot make code for .*RelayMessageFrame.list/);
  assert.throws(() => relayCodec('syntax = "proto3"; package other;'), /has no package codex.exec_server.relay.v1/);
});
