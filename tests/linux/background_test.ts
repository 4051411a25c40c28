import assert from "node:assert/strict";
import { inBackground } from "../../lib/linux/background.ts";

Deno.test("24 calls run at once, the others after them in the order in which they came", async () => {
  const begun: number[] = [];
  const work = Array.from({ length: 30 }, () => Promise.withResolvers<number>());
  const results = work.map(({ promise }, index) =>
    inBackground(() => {
      begun.push(index);
      return promise;
    })
  );
  const first = Array.from({ length: 24 }, (_, index) => index);
  assert.deepEqual(begun, first);
  work[5]!.reject(new Error("failed"));
  await assert.rejects(results[5]!, /failed/);
  assert.deepEqual(begun, [...first, 24]);
  work[7]!.resolve(7);
  work[24]!.resolve(24);
  assert.deepEqual(await Promise.all([results[7], results[24]]), [7, 24]);
  assert.deepEqual(begun, [...first, 24, 25, 26]);
  const late = inBackground(() => (begun.push(30), Promise.resolve(30)));
  for (const [index, { resolve }] of work.entries()) resolve(index);
  assert.equal(await late, 30);
  assert.deepEqual(begun, [...first, 24, 25, 26, 27, 28, 29, 30]);
  await Promise.allSettled(results);
  assert.equal(await inBackground(() => Promise.resolve(31)), 31, "all places are free again");
});

/** In a worker, which has modules of its own. */
const STAYING = `
  import { inBackground, stayOnThisThread } from "${new URL("../../lib/linux/background.ts", import.meta.url)}";
  import * as calls from "${new URL("../../lib/linux/file_calls.ts", import.meta.url)}";
  import { close } from "${new URL("../../lib/linux/libc.ts", import.meta.url)}";
  stayOnThisThread();
  const here = calls.AT_FDCWD;
  self.onmessage = async ({ data: root }) => {
    const path = (name) => new TextEncoder().encode(root + "/" + name + "\\0");
    const buffer = new Uint8Array(new ArrayBuffer(4));
    const results = {};
    results.refused = await inBackground(() => Promise.resolve(1)).catch((error) => error.message);
    const fd = await calls.openAtInBackground(here, path("file"), calls.O_CREAT | 2, 0o600);
    const copy = await calls.openAtInBackground(here, path("copy"), calls.O_CREAT | 2, 0o600);
    results.failed = await calls.openAtInBackground(here, path("none"), 0);
    results.made = await calls.makeDirectoryAtInBackground(here, path("directory"), 0o700);
    results.written = await calls.writeInBackground(fd, buffer);
    results.placed = await calls.pwriteInBackground(fd, buffer, 4n);
    results.read = await calls.preadInBackground(fd, buffer, 6n);
    results.further = await calls.readInBackground(fd, buffer);
    results.copied = await calls.copyFileRangeInBackground(fd, copy, 100);
    results.cut = await calls.truncateInBackground(fd, 3);
    results.removed = await calls.unlinkAtInBackground(here, path("file"), 0);
    await calls.closeInBackground(fd);
    results.closed = calls.pread(fd, buffer, 0n);
    close(copy);
    self.postMessage(results);
  };`;

Deno.test({
  name: "where everything stays on one thread the same calls are made there, and no other",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const root = Deno.makeTempDirSync();
    const worker = new Worker(URL.createObjectURL(new Blob([STAYING], { type: "text/javascript" })), {
      type: "module",
    });
    try {
      const answer = new Promise<MessageEvent>((resolve) => worker.onmessage = resolve);
      worker.postMessage(root);
      assert.deepEqual((await answer).data, {
        refused: "this program makes no calls on other threads",
        failed: -2,
        made: 0,
        written: 4,
        placed: 4,
        read: 2,
        further: 4,
        copied: 0,
        cut: 0,
        removed: 0,
        closed: -9,
      });
      assert.deepEqual([...Deno.readDirSync(root)].map(({ name }) => name).sort(), ["copy", "directory"]);
    } finally {
      worker.terminate();
      Deno.removeSync(root, { recursive: true });
    }
  },
});

Deno.test("no call on other threads goes past the switch", () => {
  const source = Deno.readTextFileSync(new URL("../../lib/linux/file_calls.ts", import.meta.url));
  const names = [...source.matchAll(/^ {2}(\w+): \{(?:[^}]|\n)*?nonblocking: true/gm)].map(([, name]) => name!);
  assert.ok(names.length > 8, `found ${names}`);
  for (const name of names) {
    const uses = [...source.matchAll(new RegExp(`.*symbols\\.${name}\\(`, "g"))].map(([line]) => line.trim());
    assert.equal(uses.length, 1, name);
    // Looking at other business is no business with files.
    if (name === "sched_yield") continue;
    assert.match(
      uses[0]!,
      /^(return elsewhere\(|else await inBackground\()?(\(\) => |else await inBackground\(\(\) => )/,
    );
  }
});
