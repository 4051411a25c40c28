import assert from "node:assert/strict";
import { eventually, inTime } from "./eventually.ts";
import type { ProgramSpec } from "./process_watch.ts";
import { Scene } from "./scene.ts";

/** After an orderly end the programs have been killed already; the kernel may need a moment to clear them away. */
const ORDERLY_MS = 1_000;
/** After SIGKILL the promise is: gone within a second. */
const SIGKILL_MS = 1_000;
const ignore = Deno.build.os !== "linux";

/** Programs that outlive everything but SIGKILL to their group. */
const STUBBORN: readonly ProgramSpec[] = [
  { argv: ["sh", "-c", "trap '' HUP INT TERM; sleep 1000"] },
  { argv: ["sh", "-c", "trap '' HUP INT TERM; sleep 1000"], tty: true },
  { argv: ["cat"], pipeStdin: true },
];
/** The leader leaves, its child stays in the group. */
const LEADER_LEAVES: ProgramSpec = { argv: ["sh", "-c", "trap '' HUP; sleep 1000 & exit 0"] };

async function startStubbornPrograms(scene: Scene): Promise<void> {
  for (const spec of STUBBORN) await scene.start(spec);
  const leader = await scene.start(LEADER_LEAVES);
  await eventually("the leader has left", () => assert.equal(leader.exitCode, 0));
  // Each shell and what it started, cat, and the child that stayed.
  await eventually("all programs run", () => assert.equal(scene.survivors().length, 6));
}

/** Writes to a program that does not read until the server answers no more. */
async function blockWrite(scene: Scene): Promise<void> {
  const sleeper = await scene.start({ argv: ["sleep", "1000"], pipeStdin: true });
  const chunk = new Uint8Array(65_536).toBase64();
  let answered = 0;
  for (let write = 0; write < 200; write++) {
    const params = { processId: sleeper.id, chunk, writeId: `write ${write}` };
    // The last ones are never answered: the end of the server fails them.
    scene.client.request("process/write", params).then(() => answered++, () => {});
  }
  await scene.client.flushed();
  let [before, still] = [-1, 0];
  await eventually("writes are held up", () => {
    still = answered === before ? still + 1 : 0;
    before = answered;
    assert.ok(answered > 0 && still >= 10, `${answered} writes were answered`);
  });
  assert.ok(answered < 200, "a program that does not read holds its writer up");
}

const SITUATIONS: readonly { name: string; listen: "ws" | "stdio"; arrange(scene: Scene): Promise<unknown> }[] = [
  { name: "while its programs wait", listen: "ws", arrange: () => Promise.resolve() },
  { name: "while a program floods a client that does not read", listen: "ws", arrange: (scene) => scene.floodUnread() },
  { name: "while a write waits for a program that does not read", listen: "ws", arrange: blockWrite },
  { name: "while its programs wait, with stdio", listen: "stdio", arrange: () => Promise.resolve() },
  { name: "while nobody reads its stdout", listen: "stdio", arrange: (scene) => scene.floodUnread() },
  { name: "while a write waits, with stdio", listen: "stdio", arrange: blockWrite },
];

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  for (const { name, listen, arrange } of SITUATIONS) {
    Deno.test({
      name: `${signal} ends the server ${name}, with exit code 0 and without its programs`,
      ignore,
      async fn() {
        await using scene = await Scene.open(listen);
        await startStubbornPrograms(scene);
        await arrange(scene);
        scene.server.child.kill(signal);
        const status = await inTime(`the end after ${signal}`, scene.server.child.status);
        assert.deepEqual([status.code, status.signal], [0, null]);
        await scene.nobodySurvives(ORDERLY_MS);
      },
    });
  }
}

Deno.test({
  name: "SIGTERM ends a server that nobody has talked to",
  ignore,
  async fn() {
    await using scene = await Scene.open();
    scene.client.drop();
    scene.server.child.kill("SIGTERM");
    const status = await inTime("the end after SIGTERM", scene.server.child.status);
    assert.deepEqual([status.code, status.signal], [0, null]);
  },
});

Deno.test({
  name: "the end of stdin ends a stdio server with exit code 0 and without its programs",
  ignore,
  async fn() {
    await using scene = await Scene.open("stdio");
    await startStubbornPrograms(scene);
    scene.client.endInput();
    const status = await inTime("the end after stdin's", scene.server.child.status);
    assert.deepEqual([status.code, status.signal], [0, null]);
    await scene.nobodySurvives(ORDERLY_MS);
  },
});

Deno.test({
  name: "the end of stdin ends a stdio server whose stdout nobody reads",
  ignore,
  async fn() {
    await using scene = await Scene.open("stdio");
    await scene.floodUnread();
    scene.client.endInput();
    const status = await inTime("the end after stdin's", scene.server.child.status);
    assert.deepEqual([status.code, status.signal], [0, null]);
    await scene.nobodySurvives(ORDERLY_MS);
  },
});

for (const listen of ["ws", "stdio"] as const) {
  Deno.test({
    name: `no program survives a ${listen} server that is killed for more than a second`,
    ignore,
    async fn() {
      await using scene = await Scene.open(listen);
      await startStubbornPrograms(scene);
      scene.server.child.kill("SIGKILL");
      await scene.server.child.status;
      await scene.nobodySurvives(SIGKILL_MS);
    },
  });
}
