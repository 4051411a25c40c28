import assert from "node:assert/strict";
import { type Scene, testBothSides, testOurSide } from "./command_sides.ts";
import { inTime } from "./eventually.ts";

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly stderr: string;
}

/** Runs a shell script with exec, and sends signals to exec, each when the next word has come out. */
async function signalled(
  { user, connect }: Scene,
  script: string,
  signals: readonly [string, Deno.Signal][],
): Promise<Ended> {
  const child = user.spawn(["exec", ...connect, "--", "sh", "-c", script]);
  const stderr = new Response(child.stderr).text();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let output = "";
  const read = async (): Promise<boolean> => {
    const { value = "", done } = await inTime("output or its end", reader.read());
    output += value;
    return !done;
  };
  for (const [word, signal] of signals) {
    while (!output.includes(word)) assert.ok(await read(), `ended without ${word}: ${output}`);
    child.kill(signal);
  }
  while (await read());
  const { code } = await inTime("the end of exec", child.status);
  await child.stdin.close();
  return { code, output, stderr: await stderr };
}

testBothSides("Ctrl-C interrupts the program, whose exit code is ours", async (scene) => {
  const { code, output } = await signalled(
    scene,
    "trap 'echo got it; exit 7' INT; echo ready; while :; do sleep 0.1; done",
    [
      ["ready", "SIGINT"],
    ],
  );
  assert.deepEqual([code, output], [7, "ready\ngot it\n"]);
});

testBothSides("Ctrl-C ends a program that does nothing about it, and nobody is told what he did", async (scene) => {
  const { code, stderr } = await signalled(scene, "echo ready; exec sleep 1000", [["ready", "SIGINT"]]);
  assert.equal(code, 130);
  assert.doesNotMatch(stderr, /SIGINT/);
});

testBothSides("a second Ctrl-C is harder", async (scene) => {
  const script = "trap 'echo one' INT; trap 'echo two; exit 8' TERM; echo ready; while :; do sleep 0.1; done";
  const { code } = await signalled(scene, script, [["ready", "SIGINT"], ["one", "SIGINT"]]);
  assert.equal(code, scene.extended ? 8 : 137);
});

testOurSide("a third Ctrl-C ends what ignores the first two", async (scene) => {
  const script = "trap 'echo one' INT; trap 'echo two' TERM; echo ready; while :; do sleep 0.1; done";
  const { code, output } = await signalled(scene, script, [["ready", "SIGINT"], ["one", "SIGINT"], ["two", "SIGINT"]]);
  assert.deepEqual([code, output], [137, "ready\none\ntwo\n"]);
});

for (const signal of ["SIGTERM", "SIGHUP", "SIGQUIT"] as const) {
  testBothSides(
    `${signal} is passed on; where the server cannot, the program is killed and we say so`,
    async (scene) => {
      const script = `trap 'echo got it; exit 9' ${signal.slice(3)}; echo ready; while :; do sleep 0.1; done`;
      const { code, output, stderr } = await signalled(scene, script, [["ready", signal]]);
      if (scene.extended) {
        assert.deepEqual([code, output], [9, "ready\ngot it\n"]);
        assert.doesNotMatch(stderr, /exec-server/);
      } else {
        assert.deepEqual([code, output], [137, "ready\n"]);
        assert.ok(
          stderr.includes(`exec-server: this server cannot pass on ${signal}, so the program is killed\n`),
          stderr,
        );
      }
    },
  );
}

testBothSides("Ctrl-C while the link is lost leaves at once", async ({ user, server, connect }) => {
  const child = user.spawn(["exec", ...connect, "--", "sh", "-c", "echo ready; exec sleep 1000"]);
  const reader = child.stdout.getReader();
  await reader.read();
  const stderr = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  server.child.kill("SIGKILL");
  let said = "";
  while (!said.includes("trying to get it back")) said += (await inTime("words", stderr.read())).value;
  child.kill("SIGINT");
  const { code } = await inTime("the end of exec", child.status);
  assert.equal(code, 255);
  for (let more = await stderr.read(); !more.done; more = await stderr.read()) said += more.value;
  assert.match(said, /given up; the program may still run\n$/);
  await Promise.all([reader.cancel(), child.stdin.close()]);
});
