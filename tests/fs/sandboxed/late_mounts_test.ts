import assert from "node:assert/strict";
import { backEndMissing } from "../../sandbox/support/back_ends.ts";
import { isRoot, SELF } from "../../sandbox/support/user.ts";
import { textOf } from "../scratch.ts";

const PROGRAM = new URL("mounts_program.ts", import.meta.url).pathname;
const OWN = isRoot ? ["--mount"] : ["--user", "--map-root-user", "--mount"];

for (const backEnd of ["bubblewrap", "unshare"] as const) {
  for (const propagation of ["private", "shared"]) {
    Deno.test({
      name: `what is mounted while helpers and launchers wait is seen by the next request (${backEnd}, ${propagation})`,
      ignore: await backEndMissing(backEnd, SELF) !== undefined,
      async fn() {
        const program = [Deno.execPath(), "run", "-A", "--no-check", "--quiet", PROGRAM, backEnd];
        const { success, stdout, stderr } = await new Deno.Command("unshare", {
          args: [...OWN, "--propagation", propagation, "--", ...program],
        }).output();
        assert.ok(success, textOf(stderr));
        const below = { files: "below", program: "below" }, above = { files: "above", program: "above" };
        assert.deepEqual(JSON.parse(textOf(stdout)), { before: below, covered: above, uncovered: below });
      },
    });
  }
}
