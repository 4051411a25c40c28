import assert from "node:assert/strict";
import { OPERATING_SYSTEM, operatingSystem } from "../lib/operating_system.ts";

Deno.test("operatingSystem has Deno's words under other engines too, and a word where nobody tells", () => {
  assert.equal(OPERATING_SYSTEM, Deno.build.os);
  assert.equal(operatingSystem({ process: { platform: "win32" } }), "windows");
  assert.equal(operatingSystem({ process: { platform: "darwin" } }), "darwin");
  assert.equal(operatingSystem({}), "linux");
});
