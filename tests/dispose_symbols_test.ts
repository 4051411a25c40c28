import assert from "node:assert/strict";
import { addDisposeSymbols } from "../lib/dispose_symbols.ts";

Deno.test("addDisposeSymbols adds what is missing and leaves what is there", () => {
  const old: { dispose?: symbol; asyncDispose?: symbol } = {};
  addDisposeSymbols(old);
  assert.equal(typeof old.dispose, "symbol");
  assert.equal(typeof old.asyncDispose, "symbol");
  const before = { ...old, dispose: old.dispose };
  addDisposeSymbols(old);
  assert.equal(old.dispose, before.dispose);
});
