import assert from "node:assert/strict";
import { WIRE_VERSION } from "../../lib/version.ts";
import { isVersion } from "./reference.ts";

Deno.test("a version of the reference is an exact one, and stays in its directory", () => {
  for (const version of [WIRE_VERSION, "0.164.0", "0.172.0-alpha.3"]) assert.ok(isVersion(version), version);
  for (const other of ["", "latest", "^0.171.0", "0.171", "0.171.x", "../0.171.0", "0.171.0/..", "0.171.0-a b"]) {
    assert.ok(!isVersion(other), other);
  }
});
