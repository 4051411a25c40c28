import assert from "node:assert/strict";

const FIXTURE = new URL("../../fixtures/process_one.ts", import.meta.url).pathname;
const NAMESPACE = ["--pid", "--fork", "--mount-proc", "--kill-child"];

/** Only root, and not in every container, may make a namespace of process ids. */
function canBecomeProcessOne(): boolean {
  try {
    return new Deno.Command("unshare", { args: [...NAMESPACE, "true"], stderr: "null" }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const possible = canBecomeProcessOne();
if (!possible) console.log("skipped: process 1 reaps orphans (needs unshare and root)");

Deno.test({
  name: "process 1 takes the exit status of every orphan and of no child of its own",
  ignore: !possible,
  async fn() {
    const args = [...NAMESPACE, Deno.execPath(), "run", "-A", FIXTURE];
    const { stdout, stderr, success } = await new Deno.Command("unshare", { args }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    assert.deepEqual(JSON.parse(new TextDecoder().decode(stdout)), {
      pid: 1,
      codes: [11],
      foreignCodes: [12],
      zombies: 0,
      lost: [],
    });
  },
});
