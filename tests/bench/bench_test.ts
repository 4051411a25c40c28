import assert from "node:assert/strict";
import { eventually } from "../program/eventually.ts";
import { marked } from "../program/proc.ts";

const SCRIPT = new URL("../../scripts/bench.ts", import.meta.url).pathname;

async function bench(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = new Deno.Command(Deno.execPath(), { args: ["run", "-A", SCRIPT, ...args], stdin: "null" });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

Deno.test("the bench names the argument that is wrong", async () => {
  const wrong: [string[], RegExp][] = [
    [["--bogus"], /unknown option --bogus/],
    [["--filter", "nothing"], /--filter nothing: no row/],
    [["--filter"], /--filter needs a value/],
    [["--carrier", "tcp"], /not tcp/],
    [["--server", " "], /--server needs a command/],
  ];
  for (const [args, reason] of wrong) {
    const { code, stdout, stderr } = await bench(...args);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, reason);
  }
});

Deno.test({
  name: "the bench measures one row of one server",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { code, stdout, stderr } = await bench("--quick", "--no-reference", "--filter", "connect", "--json");
    assert.equal(code, 0, stderr);
    const { circumstances, rows } = JSON.parse(stdout);
    assert.equal(circumstances.reference, null);
    assert.deepEqual(rows.map(({ id, carrier }: Record<string, string>) => `${id} ${carrier}`), ["connect ws"]);
    assert.ok(rows[0].value.ours > 0);
    assert.deepEqual([rows[0].value.reference, rows[0].ratio, rows[0].met], [null, null, null]);
  },
});

Deno.test({
  name: "the bench measures files as well",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { code, stdout, stderr } = await bench("--quick", "--no-reference", "--filter", "read-1kb", "--json");
    assert.equal(code, 0, stderr);
    const { rows } = JSON.parse(stdout);
    assert.deepEqual(rows.map(({ id, carrier }: Record<string, string>) => `${id} ${carrier}`), [
      "read-1kb ws",
      "read-1kb stdio",
    ]);
  },
});

Deno.test({
  name: "the bench ends its servers and removes its files when it is interrupted",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const directory = await Deno.makeTempDir();
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", SCRIPT, "--quick", "--no-reference", "--filter", "write-blocks"],
      env: { TMPDIR: directory },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    let [progress, interrupted] = ["", false];
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      progress += text;
      if (interrupted || !progress.includes("files by blocks over ws")) continue;
      child.kill("SIGINT");
      interrupted = true;
    }
    assert.equal((await child.status).code, 130, progress);
    assert.deepEqual([...Deno.readDirSync(directory)], []);
    // The directory is in the environment of every server that was started.
    await eventually("the servers are gone", () => assert.deepEqual(marked(directory), []));
    await Deno.remove(directory);
  },
});
