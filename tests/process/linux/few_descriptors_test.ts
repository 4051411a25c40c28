import assert from "node:assert/strict";

const FIXTURE = new URL("../../fixtures/few_descriptors.ts", import.meta.url).pathname;
const OUT_OF_DESCRIPTORS = "spawnFailed No file descriptors available (os error 24)";

Deno.test("a start without descriptors fails and leaves none behind; with just enough it works", async () => {
  const { stdout, stderr, success } = await new Deno.Command("/bin/sh", {
    args: ["-c", 'ulimit -n 64; exec "$0" run -A "$1"', Deno.execPath(), FIXTURE],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  const lines = new TextDecoder().decode(stdout).trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.pop(), { leaked: 0 });
  for (const kind of ["pipes", "terminal"]) {
    const results: string[] = lines.map((line) => line[kind]);
    const enough = results.findIndex((result) => result !== OUT_OF_DESCRIPTORS);
    assert.ok(enough > 0 && enough < results.length, `${kind}: ${results.join(", ")}`);
    assert.deepEqual(new Set(results.slice(enough)), new Set(["hi 3"]));
  }
});
