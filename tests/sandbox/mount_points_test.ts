import assert from "node:assert/strict";
import { EINVAL, EIO } from "../../lib/linux/errno.ts";
import { createLog } from "../../lib/log.ts";
import { machineCalls } from "../../lib/sandbox/mount_point_calls.ts";
import { LOCK_WAIT_MS } from "../../lib/sandbox/locked_record.ts";
import { MAX_MOUNT_POINTS } from "../../lib/sandbox/mount_points.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { MountPointScratch } from "./simulated_server.ts";

Deno.test("hold() makes what is missing until its lease ends, empty, and leaves no record", async () => {
  using scratch = new MountPointScratch();
  const server = scratch.server();
  const lease = await server.points.hold([scratch.git, scratch.secret]);
  assert.deepEqual(scratch.names, [".git", "secret"]);
  assert.deepEqual([...Deno.readDirSync(scratch.git.path)], []);
  const { size, mode } = Deno.statSync(scratch.secret.path);
  assert.deepEqual([size, mode! & 0o222], [0, 0]);
  assert.equal(scratch.recorded.length, 3);
  await lease[Symbol.asyncDispose]();
  await lease[Symbol.asyncDispose]();
  assert.deepEqual(scratch.names, []);
  await server.points[Symbol.asyncDispose]();
  assert.deepEqual(scratch.recorded, []);
  assert.equal(server.openDescriptors, 0);
});

Deno.test("hold() leaves alone what is there already, and says what is of another kind", async () => {
  using scratch = new MountPointScratch();
  await using points = scratch.server().points;
  Deno.mkdirSync(scratch.git.path);
  await using _lease = await points.hold([scratch.git]);
  assert.equal(points.size, 0);
  Deno.symlinkSync("/", scratch.secret.path);
  for (const path of [scratch.git.path, scratch.secret.path]) {
    await assert.rejects(points.hold([{ path, kind: "file" }]), {
      kind: "sandboxUnavailable",
      message: `no mount point can be made at ${path}: it is no file any more`,
    });
  }
  await assert.rejects(points.hold([{ path: `${scratch.workspace}/no/where`, kind: "file" }]), {
    message: `no mount point can be made at ${scratch.workspace}/no/where: No such file or directory (os error 2)`,
  });
});

Deno.test("hold() that fails has made nothing", async () => {
  using scratch = new MountPointScratch();
  await using points = scratch.server().points;
  await assert.rejects(points.hold([scratch.git, { path: `${scratch.workspace}/no/where`, kind: "directory" }]));
  assert.deepEqual([scratch.names, points.size], [[], 0]);
  // Neither does what cannot be written down.
  const full = scratch.server({ calls: { write: () => -EIO } }).points;
  await assert.rejects(full.hold([scratch.git]), { message: /record of mount points cannot be used: I\/O error/ });
  const torn = scratch.server({ calls: { write: (fd, bytes) => machineCalls.write(fd, bytes.subarray(1)) } }).points;
  await assert.rejects(torn.hold([scratch.git]), { message: "the record of mount points has no room" });
  let writes = 0;
  const later = scratch.server({
    calls: { write: (fd, bytes) => ++writes === 2 ? -EIO : machineCalls.write(fd, bytes) },
  });
  await assert.rejects(later.points.hold([scratch.git]), { kind: "sandboxUnavailable" });
  assert.deepEqual(scratch.names, []);
  for (const ended of [full, torn, later.points]) await ended[Symbol.asyncDispose]();
  await points.cleanUp();
  assert.equal(scratch.recorded.filter((name) => name.endsWith(".lock")).length, 1); // that `points` lives
});

Deno.test("A placeholder stays until the last who relies on it has ended, of several servers too", async () => {
  using scratch = new MountPointScratch();
  await using one = scratch.server().points;
  await using other = scratch.server().points;
  const first = await one.hold([scratch.git]);
  const second = await one.hold([scratch.git, scratch.git]);
  // It looks like anybody's directory to the other one.
  const third = await other.hold([scratch.git]);
  assert.deepEqual([one.size, other.size], [1, 1]);
  await first[Symbol.asyncDispose]();
  assert.deepEqual(scratch.names, [".git"]);
  await second[Symbol.asyncDispose]();
  assert.deepEqual([scratch.names, one.size], [[".git"], 0]);
  await third[Symbol.asyncDispose]();
  assert.deepEqual(scratch.names, []);
});

Deno.test("What a killed server left goes with the next call, but for what a living one relies on", async () => {
  using scratch = new MountPointScratch();
  const killed = scratch.server();
  await killed.points.hold([scratch.git, scratch.secret]);
  await using living = scratch.server().points;
  await using lease = await living.hold([scratch.git]);
  killed.die();
  await using next = scratch.server().points;
  await next.cleanUp();
  assert.deepEqual(scratch.names, [".git"]);
  await lease[Symbol.asyncDispose]();
  assert.deepEqual(scratch.names, []);
});

Deno.test("Whatever somebody makes of a placeholder, or puts in its place, is his", async (t) => {
  const cases: Record<string, (scratch: MountPointScratch) => string[]> = {
    "a directory gets contents": ({ git }) => (Deno.writeTextFileSync(`${git.path}/HEAD`, "ref"), [".git"]),
    "a directory is made again": ({ git }) => {
      Deno.removeSync(git.path);
      Deno.mkdirSync(`${git.path}/objects`, { recursive: true });
      return [".git"];
    },
    "a directory is replaced by an empty one": ({ git, root }) => {
      Deno.mkdirSync(`${root}/other`);
      Deno.renameSync(`${root}/other`, git.path);
      return [".git"];
    },
    "a directory becomes a link to an empty one": ({ git, root }) => {
      Deno.removeSync(git.path);
      Deno.mkdirSync(`${root}/empty`);
      Deno.symlinkSync(`${root}/empty`, git.path);
      return [".git"];
    },
    "a file gets contents": ({ secret }) => {
      Deno.chmodSync(secret.path, 0o644);
      Deno.writeTextFileSync(secret.path, "text");
      return ["secret"];
    },
    "a file may be written": ({ secret }) => (Deno.chmodSync(secret.path, 0o600), ["secret"]),
    "a file is replaced by an empty one": ({ secret }) => {
      Deno.writeTextFileSync(`${secret.path}.new`, "", { mode: 0o444 });
      Deno.renameSync(`${secret.path}.new`, secret.path);
      return ["secret"];
    },
    "a file becomes a directory": ({ secret }) => {
      Deno.removeSync(secret.path);
      Deno.mkdirSync(secret.path);
      return ["secret"];
    },
    "both are removed": ({ git, secret }) => (Deno.removeSync(git.path), Deno.removeSync(secret.path), []),
  };
  for (const [what, change] of Object.entries(cases)) {
    for (const isKilled of [false, true]) {
      await t.step(isKilled ? `${what}, and the server is killed` : what, async () => {
        using scratch = new MountPointScratch();
        const server = scratch.server();
        const lease = await server.points.hold([scratch.git, scratch.secret]);
        const kept = change(scratch);
        if (isKilled) server.die();
        else await lease[Symbol.asyncDispose]();
        await using next = scratch.server().points;
        await next.cleanUp();
        assert.deepEqual(scratch.names, kept);
        if (!isKilled) await server.points[Symbol.asyncDispose]();
        assert.deepEqual(scratch.recorded, []);
      });
    }
  }
});

Deno.test("A placeholder is found in a directory that was moved, and not through a link in its place", async () => {
  using scratch = new MountPointScratch();
  await using points = scratch.server().points;
  const lease = await points.hold([scratch.git]);
  Deno.renameSync(scratch.workspace, `${scratch.root}/moved`);
  Deno.mkdirSync(`${scratch.root}/decoy/.git`, { recursive: true });
  Deno.symlinkSync(`${scratch.root}/decoy`, scratch.workspace);
  await lease[Symbol.asyncDispose]();
  assert.deepEqual([...Deno.readDirSync(`${scratch.root}/moved`)], []);
  assert.ok(Deno.statSync(`${scratch.root}/decoy/.git`).isDirectory);
});

Deno.test("After a kill nothing is removed through a link either", async () => {
  using scratch = new MountPointScratch();
  const killed = scratch.server();
  await killed.points.hold([scratch.git]);
  killed.die();
  Deno.renameSync(scratch.workspace, `${scratch.root}/moved`);
  Deno.symlinkSync(`${scratch.root}/moved`, scratch.workspace);
  await using next = scratch.server().points;
  await next.cleanUp();
  assert.ok(Deno.statSync(`${scratch.root}/moved/.git`).isDirectory);
});

Deno.test("What was put in the place of a placeholder on its way stays what it is", async () => {
  using scratch = new MountPointScratch();
  const server = scratch.server();
  server.before = (_number, call) => {
    if (call !== "rename") return;
    const [staging] = scratch.names;
    Deno.renameSync(`${scratch.workspace}/${staging}`, `${scratch.root}/moved`);
    Deno.mkdirSync(`${scratch.workspace}/${staging}/hooks`, { recursive: true });
    server.before = () => {};
  };
  const lease = await server.points.hold([scratch.git]);
  assert.equal(server.points.size, 0);
  await lease[Symbol.asyncDispose]();
  await server.points[Symbol.asyncDispose]();
  assert.ok(Deno.statSync(`${scratch.git.path}/hooks`).isDirectory);
  assert.deepEqual([scratch.names, scratch.recorded], [[".git"], []]);
});

Deno.test("Where names cannot be moved without replacing, placeholders are made in their place", async () => {
  using scratch = new MountPointScratch();
  await using points = scratch.server({ calls: { rename: () => -EINVAL } }).points;
  const lease = await points.hold([scratch.git, scratch.secret]);
  assert.deepEqual(scratch.names, [".git", "secret"]);
  await lease[Symbol.asyncDispose]();
  assert.deepEqual(scratch.names, []);
});

Deno.test("What cannot be removed is said, stays written down and goes later", async () => {
  using scratch = new MountPointScratch();
  const lines: string[] = [];
  let isBroken = true;
  await using points = scratch.server({
    log: createLog("warn", (line) => lines.push(line)),
    calls: { removeDirectory: (...args) => isBroken ? -EIO : machineCalls.removeDirectory(...args) },
  }).points;
  const lease = await points.hold([scratch.git]);
  await lease[Symbol.asyncDispose]();
  assert.match(lines.join(), /WARN a mount point cannot be removed yet reason="I\/O error \(os error 5\)"/);
  assert.deepEqual([scratch.names, scratch.recorded.length], [[".git"], 2]);
  isBroken = false;
  await points.cleanUp();
  assert.deepEqual(scratch.names, []);
});

Deno.test("A record that others keep locked is waited for, and not forever", async () => {
  using scratch = new MountPointScratch();
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = createLog("warn", (line) => lines.push(line));
  const points = scratch.server({ clock, log }).points;
  const lease = await points.hold([scratch.git]);
  using lock = Deno.openSync(`${scratch.record}/lock`, { read: true });
  lock.lockSync(true);
  const pass = async (until: () => boolean): Promise<void> => {
    while (!until()) {
      clock.advance(50);
      await Promise.resolve();
    }
  };
  const aborting = new AbortController();
  const aborted = assert.rejects(points.hold([scratch.secret], aborting.signal), { name: "AbortError" });
  aborting.abort();
  clock.advance(1);
  await aborted;
  let failure: unknown;
  points.hold([scratch.secret]).catch((error) => failure = error);
  await pass(() => failure !== undefined);
  assert.deepEqual([(failure as { kind: string }).kind, clock.now() >= LOCK_WAIT_MS], ["sandboxUnavailable", true]);
  let released = false;
  lease[Symbol.asyncDispose]().then(() => released = true);
  await pass(() => released);
  assert.match(lines.join(), /mount points cannot be removed yet reason="another server keeps/);
  assert.deepEqual(scratch.names, [".git"]);
  const waiting = points.hold([scratch.secret]);
  lock.unlockSync();
  clock.advance(50);
  await waiting;
  assert.deepEqual(scratch.names, ["secret"]);
  await points[Symbol.asyncDispose]();
  assert.deepEqual(scratch.names, []);
});

Deno.test("A record that somebody removed is begun anew", async () => {
  using scratch = new MountPointScratch();
  const server = scratch.server();
  await server.points.hold([scratch.git]);
  Deno.removeSync(scratch.record, { recursive: true });
  await server.points.hold([scratch.secret]);
  assert.equal(scratch.recorded.length, 3);
  server.die();
  await using next = scratch.server().points;
  await next.cleanUp();
  assert.deepEqual([scratch.names, scratch.recorded], [[], []]);
});

Deno.test("There is a bound to the placeholders of one server", async () => {
  using scratch = new MountPointScratch();
  await using points = scratch.server().points;
  const many = Array.from({ length: MAX_MOUNT_POINTS + 1 }, (_, at) => (
    { path: `${scratch.workspace}/${at}`, kind: "file" } as const
  ));
  await assert.rejects(points.hold(many), { message: `at most ${MAX_MOUNT_POINTS} mount points may be in use` });
  assert.deepEqual(scratch.names, []);
});

Deno.test("Mount points of a server that ends go, and there are no more", async () => {
  using scratch = new MountPointScratch();
  const server = scratch.server();
  const lease = await server.points.hold([scratch.git]);
  await server.points[Symbol.asyncDispose]();
  await server.points[Symbol.asyncDispose]();
  assert.deepEqual([scratch.names, scratch.recorded, server.openDescriptors], [[], [], 0]);
  await assert.rejects(server.points.hold([scratch.git]), { message: "the server is ending" });
  await lease[Symbol.asyncDispose]();
  const unused = scratch.server();
  await unused.points[Symbol.asyncDispose]();
  assert.deepEqual(unused.made, []);
});

Deno.test("Mount points go at once with a server that ends, but not those that somebody still relies on", async () => {
  using scratch = new MountPointScratch();
  for (const isEverythingOver of [true, false]) {
    const server = scratch.server();
    const lease = await server.points.hold([scratch.git]);
    server.points.end(isEverythingOver);
    assert.deepEqual(scratch.names, isEverythingOver ? [] : [".git"]);
    assert.equal(server.openDescriptors, 0);
    await lease[Symbol.asyncDispose]();
    await assert.rejects(server.points.hold([scratch.git]), { message: "the server is ending" });
  }
  await using next = scratch.server().points;
  await next.cleanUp();
  assert.deepEqual([scratch.names, scratch.recorded], [[], []]);
});

Deno.test("A server that ends does not wait long for a record that others keep locked", async () => {
  using scratch = new MountPointScratch();
  const lines: string[] = [];
  const log = createLog("warn", (line) => lines.push(line));
  const server = scratch.server({ log });
  await server.points.hold([scratch.git]);
  using lock = Deno.openSync(`${scratch.record}/lock`, { read: true, write: true });
  lock.lockSync(true);
  server.points.end(true);
  assert.match(lines.join(""), /mount points are left to the next server reason=locked/);
  assert.deepEqual(scratch.names, [".git"]);
  lock.unlockSync();
  await using next = scratch.server().points;
  await next.cleanUp();
  assert.deepEqual(scratch.names, []);
});
