import assert from "node:assert/strict";
import { HELP } from "../../lib/cli/help.ts";
import { parseServeOptions } from "../../lib/cli/serve_options.ts";

/** Whether the command line is not refused for containing something unknown. */
function isKnown(name: string): boolean {
  try {
    parseServeOptions([name], () => undefined);
    return true;
  } catch (error) {
    return !String(error).includes("unexpected argument");
  }
}

Deno.test("the help names every option, and every option that it names exists", () => {
  const names = new Set(HELP.match(/--[a-z][a-z0-9-]+/g));
  for (const name of names) assert.ok(isKnown(name), name);
  const count = new Set(HELP.match(/^ +(-\w, )?--[\w-]+/gm)).size;
  assert.equal(count, 31, "options with an entry of their own");
  assert.equal(names.size, count);
});

Deno.test("the help fits a terminal of 120 columns", () => {
  for (const line of HELP.split("\n")) assert.ok(line.length <= 120, line);
});
