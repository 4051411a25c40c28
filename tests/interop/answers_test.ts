import assert from "node:assert/strict";
import { OUR_RULES, REFERENCE_RULES } from "../wire/differences.ts";
import { normalise, sameReply } from "./answers.ts";

const error = (id: unknown, code: number, message: string) => JSON.stringify({ error: { code, message }, id });

Deno.test("normalise leaves out what each server chooses for itself", () => {
  const reply = JSON.stringify({ id: 1, result: { sessionId: "s-1", environmentInfo: { cwd: "file:///x" } } });
  const other = JSON.stringify({ id: 1, result: { environmentInfo: {}, sessionId: "s-2" } });
  const names = { address: null, sessionId: null };
  assert.equal(normalise(reply, names), normalise(other, names));
  assert.equal(
    normalise(error(1, -32600, "unknown session id s-1 from 127.0.0.1:5"), {
      address: "127.0.0.1:5",
      sessionId: "s-1",
    }),
    normalise(error(1, -32600, "unknown session id <sessionId> from <peer>"), names),
  );
});

Deno.test("sameReply accepts a write without writeId, and nothing else where the reference refuses", () => {
  const accepted = JSON.stringify({ id: 1, result: { status: "accepted" } });
  const request = { id: 1, method: "process/write" };
  assert.equal(sameReply(error(1, -32602, "missing field `writeId`"), accepted, request, OUR_RULES), true);
  assert.equal(sameReply(error(1, -32602, "writeId must not be empty"), accepted, request, OUR_RULES), false);
  assert.equal(sameReply(error(1, -32602, "missing field `writeId`"), accepted, request, REFERENCE_RULES), false);
});

Deno.test("sameReply compares only the beginning of the text where a message could not be decoded", () => {
  const text = (reason: string) =>
    error(-1, -32600, `failed to parse JSON-RPC message from exec-server stdio: ${reason}`);
  assert.equal(sameReply(text("missing field `id`"), text("missing field `error`"), undefined, OUR_RULES), true);
  assert.equal(sameReply(text("x"), error(-1, -32600, "cannot parse"), undefined, OUR_RULES), false);
  assert.equal(sameReply(text("x"), text("y"), undefined, REFERENCE_RULES), false);
});
