import assert from "node:assert/strict";
import { MissingWatch } from "../../lib/fs/missing_watch.ts";
import type { NativePath } from "../../lib/fs/operations.ts";
import { bytes } from "../support/linux.ts";

/** A system in which whatever is asked for is missing, except what `has` says; tells of changes on demand. */
class FakeSystem {
  readonly asked: { missing: string[]; present: string | null; changed: () => void; ended: boolean }[] = [];
  has = false;

  watchMissing(missing: readonly NativePath[], present: NativePath | null, changed: () => void): Disposable | null {
    if (this.has) return null;
    const text = (path: NativePath) => new TextDecoder().decode(path);
    const watch = { missing: missing.map(text), present: present && text(present), changed, ended: false };
    this.asked.push(watch);
    return {
      [Symbol.dispose]() {
        watch.ended = true;
      },
    };
  }
}

class Scene {
  readonly system = new FakeSystem();
  readonly watch = new MissingWatch(this.system);
  readonly heard: bigint[] = [];

  ask(id: bigint, paths: readonly string[] = ["/a"], present: string | null = null): boolean {
    return this.watch.watch(
      id,
      paths.map(bytes),
      present === null ? null : bytes(present),
      (id) => this.heard.push(id),
    );
  }
}

Deno.test("a watch is told of a change once, with its number", () => {
  const { system, ask, heard } = bound(new Scene());
  assert.equal(ask(5n), true);
  system.asked[0]!.changed();
  assert.deepEqual(heard, [5n]);
});

Deno.test("numbers begin above zero and only rise; a call with another changes nothing", () => {
  const { system, ask, heard } = bound(new Scene());
  assert.equal(ask(0n), false);
  assert.equal(ask(5n), true);
  assert.equal(ask(5n), false);
  assert.equal(ask(4n), false);
  assert.equal(system.asked.length, 1);
  assert.equal(system.asked[0]!.ended, false);
  system.asked[0]!.changed();
  assert.equal(ask(5n), false); // used up, though the watch is over
  assert.equal(ask(2n ** 64n - 1n), true);
  assert.deepEqual(heard, [5n]);
});

Deno.test("a higher number takes the watch's place, and the old watch is not heard, however late it speaks", () => {
  const { system, ask, heard } = bound(new Scene());
  ask(6n);
  ask(7n);
  assert.equal(system.asked[0]!.ended, true);
  system.asked[0]!.changed();
  assert.deepEqual(heard, []);
  system.asked[1]!.changed();
  assert.deepEqual(heard, [7n]);
});

for (
  const [what, paths, has] of [
    ["no path", [], false],
    ["65 paths", Array<string>(65).fill("/a"), false],
    ["a path that exists", ["/a"], true],
  ] as const
) {
  Deno.test(`a higher number with ${what} ends the watch before it and is used up`, () => {
    const scene = new Scene();
    const { system, ask, heard } = bound(scene);
    ask(8n);
    system.has = has;
    assert.equal(ask(9n, paths), false);
    assert.equal(system.asked[0]!.ended, true);
    system.asked[0]!.changed();
    system.has = false;
    assert.equal(ask(9n), false);
    assert.equal(ask(10n), true);
    assert.deepEqual(heard, []);
  });
}

Deno.test("64 paths are watched", () => {
  const { system, ask } = bound(new Scene());
  assert.equal(ask(1n, Array<string>(64).fill("/a/b"), "/p/q"), true);
  assert.deepEqual(system.asked[0]!.missing, Array(64).fill("/a/b"));
  assert.equal(system.asked[0]!.present, "/p/q");
});

Deno.test("a watch ends with its scope, and none begins after it", () => {
  const scene = new Scene();
  const { system, ask, heard } = bound(scene);
  ask(1n);
  scene.watch[Symbol.dispose]();
  assert.equal(system.asked[0]!.ended, true);
  system.asked[0]!.changed();
  assert.deepEqual(heard, []);
  assert.equal(ask(2n), false);
  assert.equal(system.asked.length, 1);
});

function bound(scene: Scene) {
  return { system: scene.system, heard: scene.heard, ask: scene.ask.bind(scene) };
}
