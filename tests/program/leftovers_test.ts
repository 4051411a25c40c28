import assert from "node:assert/strict";
import { eventually } from "./eventually.ts";
import { OUR_COMMAND, RunningServer } from "./running_server.ts";

const PROGRAM = new URL("../sandbox/mount_points_program.ts", import.meta.url).pathname;
const ignore = Deno.build.os !== "linux";

/** A server that is killed while its sandboxes rely on empty directories at these paths. */
async function killedServer(record: string, paths: readonly string[]): Promise<void> {
  const server = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", PROGRAM, record, ...paths],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const reader = server.stdout.getReader();
  assert.match(new TextDecoder().decode((await reader.read()).value), /held/);
  server.kill("SIGKILL");
  await server.status;
  await reader.cancel();
}

for (const listen of ["ws", "stdio"] as const) {
  Deno.test(
    `what a killed server has left is removed by the next one at its start, over ${listen}`,
    { ignore },
    async () => {
      const scratch = await Deno.makeTempDir();
      try {
        await Deno.chmod(scratch, 0o700);
        const [left, used] = [`${scratch}/.git`, `${scratch}/.codex`];
        await killedServer(`${scratch}/exec-server/mount-points`, [left, used]);
        assert.deepEqual(Array.from(Deno.readDirSync(scratch), ({ name }) => name).toSorted(), [
          ".codex",
          ".git",
          "exec-server",
        ]);
        await Deno.writeTextFile(`${used}/config.toml`, "somebody's");
        const command = ["/usr/bin/env", `XDG_RUNTIME_DIR=${scratch}`, ...OUR_COMMAND] as const;
        await using server = await RunningServer.start({ command, listen });
        await eventually("it is removed", () => assert.throws(() => Deno.statSync(left), Deno.errors.NotFound));
        assert.equal(await Deno.readTextFile(`${used}/config.toml`), "somebody's");
        assert.doesNotMatch(server.stderr, /Error/);
      } finally {
        await Deno.remove(scratch, { recursive: true });
      }
    },
  );
}
