import assert from "node:assert/strict";
import { MissingWatches } from "../../../lib/fs/linux/watch_missing.ts";
import type { NativePath } from "../../../lib/fs/operations.ts";
import * as libc from "../../../lib/linux/libc.ts";
import { Poller } from "../../../lib/linux/poller.ts";
import { createLog, silentLog } from "../../../lib/log.ts";
import { bytes, leftOpen, openDescriptors } from "../../support/linux.ts";
import { WATCH_CASES } from "../cases/watching.ts";

/** Of all scenes: ending it takes the kernel a quarter of a second. */
const watches = new MissingWatches(silentLog);

/** Watches in a directory of their own. */
class Scene implements AsyncDisposable {
  readonly root = Deno.makeTempDirSync();
  readonly #begun = new DisposableStack();
  #sentinels = 0;

  at = (path: string) => path.startsWith("/") ? path : `${this.root}/${path}`;

  path = (path: string): NativePath => bytes(this.at(path));

  watch(missing: readonly NativePath[], present: NativePath | null, changed: () => void): Disposable | null {
    const watch = watches.watch(missing, present, changed);
    return watch === null ? null : this.#begun.use(watch);
  }

  /** Watches for one path, which is missing. */
  watchFor(name: string, changed: () => void): Disposable {
    const watch = this.watch([this.path(name)], null, changed);
    assert.ok(watch !== null);
    return watch;
  }

  /** Resolves when everything that has happened until now has been noticed: the kernel tells of all in order. */
  async settled(): Promise<void> {
    const name = `sentinel${this.#sentinels++}`;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.watchFor(name, resolve);
    Deno.writeTextFileSync(this.at(name), "");
    await promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#begun.dispose();
    await watches.idle();
    Deno.removeSync(this.root, { recursive: true });
  }
}

/** Sees whether anything is mounted or unmounted on the machine. */
class MountWatch implements AsyncDisposable {
  readonly #poller = new Poller(silentLog);
  readonly #watch = this.#poller.watch(libc.open(bytes("/proc/self/mounts\0"), libc.O_RDONLY | libc.O_CLOEXEC), {
    exceptional: () => this.changed = true,
  });
  changed = false;

  constructor() {
    this.#watch.excepting = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch.close();
    this.#poller[Symbol.dispose]();
    await this.#poller.idle();
  }
}

/** A test that is done again when it fails because of a mount elsewhere, which is a change of everything. */
function testWith(name: string, run: (scene: Scene) => Promise<void> | void): void {
  const attempt = async (): Promise<boolean> => {
    await using mounts = new MountWatch();
    await using scene = new Scene();
    try {
      await run(scene);
      return true;
    } catch (error) {
      if (!mounts.changed) throw error;
      return false;
    }
  };
  Deno.test(name, async () => {
    while (!await attempt());
  });
}

for (const { name, missing, present, setUp, watching, unnoticed, noticed } of WATCH_CASES) {
  testWith(`watching for missing paths on Linux ${watching ? "tells that" : "is refused:"} ${name}`, async (scene) => {
    setUp?.(scene.at);
    let calls = 0;
    const told = Promise.withResolvers<void>();
    const kept = present === undefined ? null : scene.path(present);
    const watch = scene.watch(missing.map(scene.path), kept, () => {
      calls++;
      told.resolve();
    });
    assert.equal(watch !== null, watching);
    if (!watching) return;
    unnoticed?.(scene.at);
    await scene.settled();
    assert.equal(calls, 0);
    noticed?.(scene.at);
    await told.promise;
    await scene.settled();
    assert.equal(calls, 1);
  });
}

testWith(
  "the directories on the way are counted once, whether they exist or not, and the limit is 64",
  (scene) => {
    const above = scene.root.split("/").length; // with the root
    const inDirectories = (count: number) => {
      const paths = Array.from({ length: count }, (_, index) => scene.path(`${index}/a`));
      return scene.watch(paths, null, () => {}) !== null;
    };
    assert.equal(inDirectories(64 - above), true);
    assert.equal(inDirectories(65 - above), false);
  },
);

testWith("names that are not UTF-8 are watched for like others", async (scene) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const path = new Uint8Array([...scene.path("x"), 0xff, 0x80]);
  assert.ok(scene.watch([path], null, resolve) !== null);
  await new Deno.Command("sh", { args: ["-c", 'touch "$(printf \'%s/x\\377\\200\' "$0")"', scene.root] }).output();
  await promise;
});

testWith("a watch that has ended hears nothing, and those beside it go on", async (scene) => {
  const heard: string[] = [];
  using _first = scene.watchFor("a", () => heard.push("first"));
  const second = scene.watchFor("a", () => heard.push("second"));
  second[Symbol.dispose]();
  second[Symbol.dispose]();
  Deno.writeTextFileSync(scene.at("a"), "");
  await scene.settled();
  assert.deepEqual(heard, ["first"]);
});

testWith("what happened before a watch began is no news for it, even where somebody else watches", async (scene) => {
  const heard: string[] = [];
  scene.watchFor("b", () => heard.push("other"));
  Deno.writeTextFileSync(scene.at("a"), "");
  Deno.removeSync(scene.at("a"));
  scene.watchFor("a", () => heard.push("new"));
  await scene.settled();
  assert.deepEqual(heard, []);
});

testWith("writing to a file is an event only for who watches it, whoever watches its directory", async (scene) => {
  Deno.writeTextFileSync(scene.at("p"), "1");
  const heard: string[] = [];
  scene.watch([scene.path("a")], scene.path("p"), () => heard.push("file"));
  scene.watchFor("a", () => heard.push("directory"));
  Deno.writeTextFileSync(scene.at("p"), "2");
  await scene.settled();
  assert.deepEqual(heard, ["file"]);
});

Deno.test("a listener that fails is reported, and the others hear all the same", async () => {
  const lines: string[] = [];
  const root = Deno.makeTempDirSync();
  const watches = new MissingWatches(createLog("error", (line) => lines.push(line)));
  const { promise, resolve } = Promise.withResolvers<void>();
  watches.watch([bytes(`${root}/a`)], null, () => {
    throw new Error("broken");
  });
  watches.watch([bytes(`${root}/a`)], null, resolve);
  Deno.writeTextFileSync(`${root}/a`, "");
  await promise;
  assert.match(lines.join(), /telling of a change failed reason="Error: broken"/);
  watches[Symbol.dispose]();
  await watches.idle();
  Deno.removeSync(root, { recursive: true });
});

testWith("a flood of events that nobody takes counts as a change", async (scene) => {
  const limit = Number(Deno.readTextFileSync("/proc/sys/fs/inotify/max_queued_events"));
  const { promise, resolve } = Promise.withResolvers<void>();
  scene.watchFor("a", resolve);
  Deno.writeTextFileSync(scene.at("x"), "");
  for (let count = 0; count <= limit / 2; count++) { // two events each
    Deno.renameSync(scene.at("x"), scene.at("y"));
    Deno.renameSync(scene.at("y"), scene.at("x"));
  }
  await promise;
});

Deno.test("while nobody watches no thread waits, and nothing is open once the scope is left", async () => {
  const before = openDescriptors();
  const root = Deno.makeTempDirSync();
  const watches = new MissingWatches(silentLog);
  const watch = watches.watch([bytes(`${root}/a`)], null, () => {});
  assert.equal(leftOpen(before).length, 4);
  watch?.[Symbol.dispose]();
  await watches.idle();
  assert.equal(watches.watch([bytes(root)], null, () => {}), null);
  await watches.idle();
  assert.equal(leftOpen(before).length, 3); // all but the table of mounts
  watches[Symbol.dispose]();
  await watches.idle();
  assert.deepEqual(leftOpen(before), []);
  Deno.removeSync(root);
});

Deno.test("watches that come and go one after the other leave nothing behind", async () => {
  const root = Deno.makeTempDirSync();
  const before = openDescriptors();
  const watches = new MissingWatches(silentLog);
  for (let count = 0; count < 300; count++) {
    const watch = watches.watch([bytes(`${root}/a`)], null, () => {});
    assert.ok(watch !== null);
    watch[Symbol.dispose]();
  }
  await watches.idle();
  const ours = leftOpen(before);
  const [inotify] = ours.find(([, target]) => target.includes("inotify"))!;
  assert.doesNotMatch(Deno.readTextFileSync(`/proc/self/fdinfo/${inotify}`), /^inotify /m); // a line per directory
  const { promise, resolve } = Promise.withResolvers<void>();
  watches.watch([bytes(`${root}/a`)], null, resolve);
  assert.match(Deno.readTextFileSync(`/proc/self/fdinfo/${inotify}`), /^inotify /m);
  Deno.writeTextFileSync(`${root}/a`, "");
  await promise;
  watches[Symbol.dispose]();
  await watches.idle();
  Deno.removeSync(root, { recursive: true });
});

const OWN_MOUNTS = ["--user", "--map-root-user", "--mount"];
const mayMount =
  (await new Deno.Command("unshare", { args: [...OWN_MOUNTS, "true"], stderr: "null" }).output()).success;

Deno.test({ name: "a mount counts as a change, wherever it is", ignore: !mayMount }, async () => {
  const root = Deno.makeTempDirSync();
  for (const name of ["directory", "other"]) Deno.mkdirSync(`${root}/${name}`);
  const fixture = new URL("../../fixtures/watch_mounts.ts", import.meta.url).pathname;
  const args = [...OWN_MOUNTS, Deno.execPath(), "run", "-A", fixture, root];
  const { stdout } = await new Deno.Command("unshare", { args, stderr: "inherit" }).output();
  assert.equal(new TextDecoder().decode(stdout), "changed\n");
  Deno.removeSync(root, { recursive: true });
});
