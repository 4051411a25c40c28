import assert from "node:assert/strict";
import { RunningServer } from "./running_server.ts";

const ignore = Deno.build.os !== "linux";
/** Enough that the work takes several slices. */
const FILES = 3_000;
/** A client that has to wait for all of the work gets one answer. */
const ANSWERS = 3;

const WORK: readonly { name: string; method: string; params: (root: string) => unknown }[] = [
  {
    name: "copied",
    method: "fs/copy",
    params: (root) => ({ sourcePath: `file://${root}/a`, destinationPath: `file://${root}/b`, recursive: true }),
  },
  { name: "removed", method: "fs/remove", params: (root) => ({ path: `file://${root}/a` }) },
];

for (const { name, method, params } of WORK) {
  Deno.test({
    name: `a second client is answered while a tree is ${name}`,
    ignore,
    async fn() {
      const root = await Deno.makeTempDir({ prefix: "exec-server-test-" });
      try {
        await Deno.mkdir(`${root}/a`);
        for (let file = 0; file < FILES; file++) await Deno.writeTextFile(`${root}/a/${file}`, "x");
        await using server = await RunningServer.start();
        await using busy = await server.connect();
        await using second = await server.connect();
        for (const client of [busy, second]) await client.initialize();
        let working = true;
        const work = busy.request(method, params(root)).finally(() => working = false);
        let answers = 0;
        while (working) {
          await second.request("fs/getMetadata", { path: `file://${root}` });
          answers++;
        }
        await work;
        assert.ok(answers >= ANSWERS, `${answers} answers`);
      } finally {
        await Deno.remove(root, { recursive: true });
      }
    },
  });
}
