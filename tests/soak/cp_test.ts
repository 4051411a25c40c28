/** A copy of a file that is larger than any memory of ours, and of a tree of many files. Needs 7 GB of free space. */
import assert from "node:assert/strict";
import { CommandLine } from "../program/command_line.ts";
import { installedReference } from "../bench/reference.ts";
import { shell, writeNoise } from "../program/files_of_user.ts";
import { peakMemory } from "../program/peak_memory.ts";
import { OUR_COMMAND, RunningServer, type ServerCommand } from "../program/running_server.ts";

const MB = 1_000_000;
const FILE_BYTES = 2_000 * MB;
const NEEDED_BYTES = 7_000 * MB;
const MOST_MEMORY_BYTES = 300 * MB;
const FILES = 20_000;

const sides: [string, ServerCommand | null][] = [["ours", OUR_COMMAND], ["the reference", await installedReference()]];
for (const [name, command] of sides) {
  Deno.test({
    name: `cp of 2 GB and of ${FILES} files, there and back, with equal checksums and flat memory (${name})`,
    ignore: command === null || Deno.build.os !== "linux",
    async fn() {
      await using user = await CommandLine.create();
      const free = Number((await shell(user, "df -P -k . | awk 'NR == 2 { print $4 }'")).trim()) * 1024;
      assert.ok(free > NEEDED_BYTES, `${free / MB} MB are free, and ${NEEDED_BYTES / MB} MB are needed`);
      await using server = await RunningServer.start({ command: command! });
      const cp = async (...operands: string[]): Promise<void> => {
        const began = performance.now();
        const child = user.spawn(["cp", "--connect", server.url, ...operands]);
        await child.stdin.close();
        const output = child.output();
        const peak = await peakMemory(child.pid, output);
        const { code, stderr } = await output;
        assert.equal(code, 0, new TextDecoder().decode(stderr));
        assert.ok(peak < MOST_MEMORY_BYTES, `${operands.join(" ")}: ${peak / MB} MB`);
        const seconds = (performance.now() - began) / 1000;
        console.log(`${operands.join(" ")}: ${seconds.toFixed(1)} s, at most ${(peak / MB).toFixed(0)} MB of memory`);
      };
      await writeNoise(`${user.home}/big`, FILE_BYTES);
      await cp("big", `env:${user.home}/far`);
      await cp(`env:${user.home}/far`, "back");
      const sums = (await shell(user, "sha256sum < big; sha256sum < far; sha256sum < back; rm big far back")).trim()
        .split("\n");
      assert.equal(new Set(sums).size, 1, sums.join("\n"));

      await shell(
        user,
        `mkdir tree; cd tree; i=0; while [ $i -lt ${FILES} ]; do
        [ $((i % 100)) = 0 ] && mkdir "d$((i / 100))"; echo $i > "d$((i / 100))/$i"; i=$((i + 1)); done`,
      );
      await cp("tree", `env:${user.home}/far`);
      await cp(`env:${user.home}/far`, "back");
      assert.equal(
        await shell(user, "diff -r tree far && diff -r tree back && find back -type f | wc -l"),
        `${FILES}\n`,
      );
    },
  });
}
