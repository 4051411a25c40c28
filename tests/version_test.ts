import assert from "node:assert/strict";
import config from "../deno.json" with { type: "json" };
import { VERSION } from "../lib/version.ts";

Deno.test("the version in the program is the version of the package", () => {
  assert.equal(VERSION, config.version);
});
