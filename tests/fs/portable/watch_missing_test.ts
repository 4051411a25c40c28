import assert from "node:assert/strict";
import { watchMissing } from "../../../lib/fs/portable/watch_missing.ts";
import { createLog, silentLog } from "../../../lib/log.ts";
import { Scratch } from "../scratch.ts";
import { WATCH_CASES } from "../cases/watching.ts";

const toBytes = (path: string) => new TextEncoder().encode(path);

/** Long after the system has told of what happened; nothing tells that there is nothing to tell. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 60));

/** The others are about what only one system's back end does. */
const COMMON_CASES = WATCH_CASES.filter(({ onlyOn }) => onlyOn === undefined);

for (const { name, missing, present, setUp, watching, unnoticed, noticed } of COMMON_CASES) {
  const title = `watching for missing paths portably ${watching ? "tells that" : "is refused:"} ${name}`;
  Deno.test(title, async () => {
    using scratch = new Scratch();
    const at = (path: string) => path.startsWith("/") ? path : `${scratch.root}/${path}`;
    setUp?.(at);
    let calls = 0;
    const told = Promise.withResolvers<void>();
    const paths = missing.map((path) => toBytes(at(path)));
    const watch = watchMissing(paths, present === undefined ? null : toBytes(at(present)), () => {
      calls++;
      told.resolve();
    }, silentLog);
    assert.equal(watch !== null, watching);
    if (!watching) return;
    if (unnoticed !== undefined) {
      unnoticed(at);
      await settled();
    }
    assert.equal(calls, 0);
    noticed?.(at);
    await told.promise;
  });
}

Deno.test("a portable watch tells once", async () => {
  using scratch = new Scratch();
  let calls = 0;
  const told = Promise.withResolvers<void>();
  const changed = () => {
    calls++;
    told.resolve();
  };
  assert.ok(watchMissing([scratch.path("a")], null, changed, silentLog) !== null);
  scratch.write("a", "");
  await told.promise;
  Deno.removeSync(`${scratch.root}/a`);
  scratch.write("a", "");
  await settled();
  assert.equal(calls, 1);
});

Deno.test("a portable watch that has ended hears nothing", async () => {
  using scratch = new Scratch();
  const heard: string[] = [];
  const watch = watchMissing([scratch.path("a")], null, () => heard.push("changed"), silentLog);
  watch?.[Symbol.dispose]();
  watch?.[Symbol.dispose]();
  scratch.write("a", "");
  await settled();
  assert.deepEqual(heard, []);
});

Deno.test("a listener of a portable watch that fails is reported", async () => {
  using scratch = new Scratch();
  const { promise, resolve } = Promise.withResolvers<string>();
  const fail = () => {
    throw new Error("broken");
  };
  assert.ok(watchMissing([scratch.path("a")], null, fail, createLog("error", resolve)) !== null);
  scratch.write("a", "");
  assert.match(await promise, /watching for missing files failed reason="Error: broken"/);
});
