import assert from "node:assert/strict";
import { ExecError } from "../../lib/errors.ts";
import { fromRpcError, toRpcError } from "../../lib/rpc/error_code.ts";

Deno.test("a failure to launch a program says of what kind it is, beside the code", () => {
  for (
    const [kind, code, dataKind] of [
      ["spawnNotFound", -32603, "spawnNotFound"],
      ["sandboxUnavailable", -32603, "sandboxUnavailable"],
      ["sandboxPreparation", -32602, "sandboxPreparation"],
      ["sandboxUnsupported", -32602, "sandboxUnavailable"],
    ] as const
  ) assert.deepEqual(toRpcError(new ExecError(kind, "m")), { code, message: "m", data: { kind: dataKind } });
  assert.deepEqual(toRpcError(new ExecError("invalidParams", "m")), { code: -32602, message: "m" });
  assert.equal(toRpcError(new Error("m")), undefined);
});

Deno.test("the kind that a peer names counts, before its code", () => {
  const kindOf = (code: number, data?: unknown) => fromRpcError({ code, message: "m", data }).kind;
  assert.equal(kindOf(-32602, { kind: "sandboxUnavailable" }), "sandboxUnavailable");
  assert.equal(kindOf(-32603, { kind: "sandboxUnavailable" }), "sandboxUnavailable");
  assert.equal(kindOf(-32602, { kind: "toString" }), "invalidParams");
  assert.equal(kindOf(-32004), "notFound");
  assert.equal(kindOf(-1), "internal");
});
