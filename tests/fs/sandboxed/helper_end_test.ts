import assert from "node:assert/strict";
import { BACK_END_NAMES } from "../../../lib/sandbox/back_end_choice.ts";
import { backEndMissing } from "../../sandbox/support/back_ends.ts";
import { SELF } from "../../sandbox/support/user.ts";
import { eventually, isAlive } from "../../support/linux.ts";

const PROGRAM = new URL("killed_program.ts", import.meta.url).pathname;

for (const backEnd of BACK_END_NAMES) {
  // With Landlock alone nothing is written in the middle of which it could be.
  for (const what of backEnd === "landlock" ? ["idle"] : ["idle", "busy"]) {
    Deno.test({
      name: `a helper that is ${what} ends with its server, also when that is killed (${backEnd})`,
      ignore: await backEndMissing(backEnd, SELF) !== undefined,
      async fn() {
        const args = ["run", "-A", "--no-check", "--quiet", PROGRAM, backEnd, what];
        const server = new Deno.Command(Deno.execPath(), { args, stdout: "piped", stdin: "null" }).spawn();
        const output = server.stdout.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
        const { root, helpers } = JSON.parse((await output.next()).value!) as { root: string; helpers: number[] };
        try {
          assert.equal(helpers.length, 1);
          const copied = (): number => [...Deno.readDirSync(`${root}/ws/target`)].length;
          if (what === "busy") {
            await eventually("it has begun", () => exists(`${root}/ws/target`) && copied() > 10);
          }
          Deno.kill(server.pid, "SIGKILL");
          await server.status;
          await eventually("the helper has ended", () => !isAlive(helpers[0]!));
          if (what === "busy") assert.ok(copied() < 20_000, "in the middle");
        } finally {
          // Where it was killed already it is gone, or not yet.
          if (isAlive(server.pid)) server.kill("SIGKILL");
          await Promise.all([output.return?.(), server.status]);
          Deno.removeSync(root, { recursive: true });
        }
      },
    });
  }
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
