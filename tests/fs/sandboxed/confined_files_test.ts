import assert from "node:assert/strict";
import type { FileOperations, Metadata } from "../../../lib/fs/operations.ts";
import { BACK_END_NAMES, type BackEndName } from "../../../lib/sandbox/back_end_choice.ts";
import { ConfinedFiles } from "../../../lib/fs/sandboxed/confined_files.ts";
import { helperCommand } from "../../../lib/fs/sandboxed/helper_command.ts";
import { FILES_HELPER_WORD } from "../../../lib/fs/sandboxed/helper_word.ts";
import { silentLog } from "../../../lib/log.ts";
import type { LauncherCommand } from "../../../lib/sandbox/launcher_command.ts";
import { backEndMissing } from "../../sandbox/support/back_ends.ts";
import { isRoot, ORDINARY, SELF } from "../../sandbox/support/user.ts";
import { eventually, isAlive } from "../../support/linux.ts";
import { assertSameBytes, bytesOf, pattern, textOf } from "../scratch.ts";
import { caller, ConfinedPlace, entry, READ_ALL } from "./confined_place.ts";

const READ_ONLY = { kind: "internal", message: "Read-only file system (os error 30)" };
const DENIED = { kind: "invalidRequest", message: "Permission denied (os error 13)" };
const ABSENT = { kind: "notFound", message: "No such file or directory (os error 2)" };

const both = { recursive: true, followSymlinks: true };
const anything = { recursive: true, force: false, followSymlinks: true };
const missing = new Map<BackEndName, string | undefined>();
for (const name of BACK_END_NAMES) missing.set(name, await backEndMissing(name, SELF));

/** Those that can take back what they grant. */
const WITH_VIEWS = ["bubblewrap", "unshare"] as const;

function test(name: string, backEnds: readonly BackEndName[], run: (place: ConfinedPlace) => Promise<void>): void {
  for (const backEnd of backEnds) {
    Deno.test({
      name: `${name} (${backEnd})`,
      ignore: missing.get(backEnd) !== undefined,
      async fn() {
        await using place = await ConfinedPlace.create(backEnd);
        await run(place);
        assert.deepEqual(place.warnings, []);
      },
    });
  }
}

/** What is open for reading and for writing, and may not be. */
async function contentOf(operations: FileOperations, path: string): Promise<string> {
  const content = await operations.readFile(bytesOf(path), true, caller);
  return content instanceof Uint8Array ? textOf(content) : atob(textOf(content.base64));
}

test("every operation does inside what it does outside", WITH_VIEWS, async (place) => {
  const files = place.under();
  const path = (name: string) => bytesOf(place.in(name));
  await files.createDirectory(path("a/b"), both, caller);
  await files.writeFile(path("a/b/file"), bytesOf("content"), true, caller);
  assert.equal(Deno.readTextFileSync(place.in("a/b/file")), "content");
  assert.equal(Deno.statSync(place.in("a/b/file")).mode! & 0o777, 0o666 & ~Deno.umask());
  assert.equal(Deno.statSync(place.in("a/b/file")).uid, Deno.uid());
  assert.equal(await contentOf(files, place.in("a/b/file")), "content");
  Deno.symlinkSync("b/file", place.in("a/link"));
  const { size, isFile, isSymlink } = await files.getMetadata(path("a/link"), true, caller);
  assert.deepEqual({ size, isFile, isSymlink }, { size: 7, isFile: true, isSymlink: true });
  assert.equal(textOf(await files.canonicalize(path("a/link"), caller)), place.in("a/b/file"));
  await files.copy(path("a"), path("copy"), true, caller);
  assert.equal(Deno.readTextFileSync(place.in("copy/b/file")), "content");
  assert.deepEqual((await files.readDirectory(path("copy"), caller)).map(({ fileName }) => fileName).sort(), [
    "b",
    "link",
  ]);
  const limits = { maxDepth: 9, maxDirectories: 99, maxEntries: 99 };
  const options = { ...limits, followDirectorySymlinks: false, pruneHiddenDirectories: false };
  const walked = await files.walk(path("copy"), options, caller);
  assert.deepEqual(walked, {
    entries: [{ path: `file://${place.in("copy/b")}`, kind: "directory" }, {
      path: `file://${place.in("copy/b/file")}`,
      kind: "file",
    }],
    errors: [],
    truncated: false,
  });
  await files.remove(path("copy"), anything, caller);
  assert.deepEqual(place.own.names(), ["a"]);
  assert.equal(place.helpers().length, 1, "one helper does it all");
});

test("failures are those of the kernel inside, each with its number", WITH_VIEWS, async (place) => {
  Deno.mkdirSync(place.in("denied"));
  Deno.writeTextFileSync(place.in("denied/secret"), "secret");
  const outside = `${place.own.root}/outside`;
  Deno.writeTextFileSync(outside, "outside");
  const files = place.under(place.workspace(entry(place.in("denied"), "deny")));
  const rejects = (act: () => unknown, expected: object) => assert.rejects(async () => await act(), expected);
  await rejects(() => files.writeFile(bytesOf(outside), bytesOf("x"), true, caller), READ_ONLY);
  await rejects(() => files.openForReplacing(bytesOf(outside), caller), READ_ONLY);
  await rejects(() => files.remove(bytesOf(outside), anything, caller), READ_ONLY);
  await rejects(() => files.createDirectory(bytesOf(`${place.own.root}/new`), both, caller), READ_ONLY);
  await rejects(() => files.copy(bytesOf(outside), bytesOf(`${outside}2`), false, caller), READ_ONLY);
  await rejects(() => contentOf(files, place.in("denied/secret")), DENIED);
  await rejects(() => files.getMetadata(bytesOf(place.in("denied/secret")), true, caller), DENIED);
  await rejects(() => files.readDirectory(bytesOf(place.in("denied")), caller), DENIED);
  await rejects(() => files.remove(bytesOf(place.in("none")), anything, caller), ABSENT);
  await rejects(() => files.writeFile(bytesOf(place.in(".git/config")), bytesOf("x"), true, caller), READ_ONLY);
  await rejects(() => files.createDirectory(bytesOf(place.in(".git/hooks")), both, caller), READ_ONLY);
  await rejects(() => contentOf(files, place.own.workspace), {
    kind: "invalidRequest",
    message: `path \`${place.own.workspace}\` is not a file`,
  });
  await files.remove(bytesOf(place.in("none")), { ...anything, force: true }, caller);
  assert.equal(Deno.readTextFileSync(outside), "outside");
  assert.deepEqual(place.own.names(), ["denied"], "no name is left that was only held");
});

test("what may not be read is not there, and what is only in memory cannot be written", WITH_VIEWS, async (place) => {
  const outside = `${place.own.root}/outside`;
  Deno.writeTextFileSync(outside, "outside");
  const files = place.under([{ path: { kind: "minimal" }, access: "read" }, entry(place.own.workspace, "write")]);
  await assert.rejects(contentOf(files, outside), ABSENT);
  await assert.rejects(async () => await files.writeFile(bytesOf(outside), bytesOf("x"), true, caller), READ_ONLY);
  await assert.rejects(async () => await files.createDirectory(bytesOf("/new"), both, caller), READ_ONLY);
  await files.writeFile(bytesOf(place.in("file")), bytesOf("x"), true, caller);
  assert.equal(await contentOf(files, "/dev/null").catch(({ message }) => message), "path `/dev/null` is not a file");
  assert.equal(Deno.readTextFileSync(place.in("file")), "x");
});

test("an open file goes on outside of the view, as it was opened", WITH_VIEWS, async (place) => {
  const content = pattern(3 * 1024 * 1024);
  Deno.writeFileSync(place.in("large"), content);
  const files = place.under();
  using reading = await files.openForReading(bytesOf(place.in("large")), caller);
  using writing = await files.openForReplacing(bytesOf(place.in("new")), caller);
  const { signal } = caller;
  for (let at = 0; at < content.length; at += 1024 * 1024) {
    const block = await reading.read(BigInt(at), 1024 * 1024, signal);
    await writing.write(BigInt(at), block, signal);
  }
  await assert.rejects(async () => await reading.write(0n, bytesOf("x"), signal), {
    message: "Bad file descriptor (os error 9)",
  });
  assertSameBytes(Deno.readFileSync(place.in("new")), content);
  const whole = await files.readFile(bytesOf(place.in("large")), true, caller);
  assert.ok("base64" in whole, "read here, piece by piece");
  assertSameBytes(Uint8Array.fromBase64(textOf(whole.base64)), content);
});

test("no path leads to the helper itself, its threads, its memory or its descriptors", WITH_VIEWS, async (place) => {
  const files = place.under([READ_ALL]);
  const numbers = Array.from({ length: 40 }, (_, number) => String(number));
  const names = ["self", "thread-self", ...numbers, ...place.helpers().map(String)];
  const paths = names.flatMap((name) =>
    ["", "/root/etc/passwd", "/mem", "/fd/3", "/cwd/etc/passwd"].map((end) => `/proc/${name}${end}`)
  );
  for (const path of [...paths, "/dev/fd/3", "/dev/stdin"]) {
    await assert.rejects(async () => await files.getMetadata(bytesOf(path), true, caller), ABSENT, path);
  }
  await assert.rejects(
    async () => await files.openForReplacing(bytesOf("/proc/sys/kernel/core_pattern"), caller),
    Deno.uid() === 0 ? READ_ONLY : DENIED,
  );
  assert.match(await contentOf(files, "/proc/version"), /Linux/);
});

test(
  "policies at the same time keep apart, however they follow each other on the helpers",
  WITH_VIEWS,
  async (place) => {
    const names = ["one", "two", "three"];
    for (const name of names) {
      Deno.mkdirSync(place.in(name));
      Deno.writeTextFileSync(place.in(`${name}/secret`), name);
    }
    const minimal = { path: { kind: "minimal" }, access: "read" } as const;
    const operations = names.map((name) => place.under([minimal, entry(place.in(name), "write")]));
    const asked = Array.from({ length: 60 }, (_, at) => ({ own: at % 3, aim: (at * 7 >> 1) % 3, at }));
    const results = await Promise.all(asked.map(async ({ own, aim, at }) => {
      const files = operations[own]!;
      const path = place.in(`${names[aim]}/${at % 2 === 0 ? "secret" : `new${at}`}`);
      try {
        if (at % 2 === 0) return await contentOf(files, path);
        await files.writeFile(bytesOf(path), bytesOf("x"), true, caller);
        return "written";
      } catch (error) {
        return (error as Error).message;
      }
    }));
    for (const [at, { own, aim }] of asked.entries()) {
      const isOwn = own === aim;
      const expected = at % 2 === 0 ? [names[aim], ABSENT.message] : ["written", READ_ONLY.message];
      // Above a directory that is not there nothing can be made; it says so or that nothing may be written.
      const refused = at % 2 === 0 ? [expected[1]] : [expected[1], ABSENT.message];
      if (isOwn) assert.equal(results[at], expected[0]);
      else assert.ok(refused.includes(results[at]), `${results[at]}`);
    }
    assert.ok(place.helpers().length <= 4);
  },
);

test("a failure in the middle leaves nothing of its view behind", WITH_VIEWS, async (place) => {
  Deno.mkdirSync(place.in("tree/deep"), { recursive: true });
  for (const name of ["tree/a", "tree/deep/b"]) Deno.writeTextFileSync(place.in(name), name);
  Deno.mkdirSync(place.in("target/deep"), { recursive: true });
  const narrow = place.under(place.workspace(entry(place.in("target/deep"), "read")));
  const wide = place.under();
  for (let round = 0; round < 3; round++) {
    const copying = async () => await narrow.copy(bytesOf(place.in("tree")), bytesOf(place.in("target")), true, caller);
    await assert.rejects(copying, READ_ONLY);
    await wide.copy(bytesOf(place.in("tree")), bytesOf(place.in("target")), true, caller);
    assert.equal(Deno.readTextFileSync(place.in("target/deep/b")), "tree/deep/b");
    await assert.rejects(async () => await narrow.remove(bytesOf(place.in("target")), anything, caller));
    assert.ok(Deno.statSync(place.in("target/deep/b")).isFile);
  }
  assert.equal(place.helpers().length, 1);
});

test("what is large goes through the helper's own thread, and comes whole", WITH_VIEWS, async (place) => {
  const content = pattern(20 * 1024 * 1024);
  Deno.writeFileSync(place.in("large"), content);
  Deno.mkdirSync(place.in("many"));
  for (let count = 0; count < 5_000; count++) Deno.writeTextFileSync(place.in(`many/${"x".repeat(100)}${count}`), "");
  const files = place.under();
  const [helper] = await helpersOf(place, files);
  const before = descriptorsOf(helper!);
  await files.copy(bytesOf(place.in("large")), bytesOf(place.in("copy")), false, caller);
  assertSameBytes(Deno.readFileSync(place.in("copy")), content);
  const entries = await files.readDirectory(bytesOf(place.in("many")), caller);
  assert.equal(new Set(entries.map(({ fileName }) => fileName)).size, 5_000);
  await assert.rejects(
    async () => await files.copy(bytesOf(place.in("large")), bytesOf(place.in(".git/large")), false, caller),
    READ_ONLY,
  );
  await files.remove(bytesOf(place.in("many")), anything, caller);
  await files.remove(bytesOf(place.in("copy")), anything, caller);
  assert.deepEqual(place.own.names(), ["large"]);
  assert.deepEqual(place.helpers(), [helper]);
  assert.equal(descriptorsOf(helper!), before, "descriptors of the helper");
});

test("what nobody wants any more ends, and the helper stays", WITH_VIEWS, async (place) => {
  const count = 3_000;
  Deno.mkdirSync(place.in("many"));
  for (let at = 0; at < count; at++) Deno.writeTextFileSync(place.in(`many/${at}`), "x");
  const files = place.under();
  const [helper] = await helpersOf(place, files);
  const aborting = new AbortController();
  const reason = new Error("not wanted");
  const copying = files.copy(bytesOf(place.in("many")), bytesOf(place.in("copy")), true, {
    ...caller,
    signal: aborting.signal,
  });
  await eventually(
    "the copy has begun",
    () => place.own.names().includes("copy") && [...Deno.readDirSync(place.in("copy"))].length > 10,
  );
  aborting.abort(reason);
  await assert.rejects(async () => await copying, reason);
  const copied = [...Deno.readDirSync(place.in("copy"))].length;
  assert.ok(copied < count, "in the middle");
  await files.createDirectory(bytesOf(place.in("next")), both, caller);
  assert.equal([...Deno.readDirSync(place.in("copy"))].length, copied, "nothing more was changed");
  assert.deepEqual(place.helpers(), [helper]);
  const never = new AbortController();
  never.abort(reason);
  await assert.rejects(
    async () => await files.getMetadata(bytesOf("/"), true, { ...caller, signal: never.signal }),
    reason,
  );
});

test("a helper that is killed is missed once", WITH_VIEWS, async (place) => {
  const files = place.under();
  const [idle] = await helpersOf(place, files);
  await place.kill(idle!);
  await files.writeFile(bytesOf(place.in("first")), bytesOf("x"), true, caller);
  const [busy] = place.helpers();
  Deno.kill(busy!, "SIGSTOP");
  const waiting = files.writeFile(bytesOf(place.in("second")), bytesOf("x"), true, caller);
  await eventually("it was asked", () => place.held === 1);
  Deno.kill(busy!, "SIGKILL");
  await assert.rejects(async () => await waiting, (error: Error & { kind: string }) => {
    assert.match(error.message, /^fs sandbox helper failed with status (signal: 9 \(SIGKILL\)|exit status: 137): /);
    return error.kind === "internal";
  });
  await files.writeFile(bytesOf(place.in("third")), bytesOf("x"), true, caller);
  assert.deepEqual(place.own.names(), ["first", "third"]);
});

test("a view that cannot be entered is an error, and the end of the helper", WITH_VIEWS, async (place) => {
  const aim = place.in("aim");
  Deno.mkdirSync(aim);
  const wanted = await place.confinement(place.workspace(entry(aim, "read")));
  const files = place.under();
  const [helper] = await helpersOf(place, files);
  Deno.removeSync(aim);
  Deno.symlinkSync("/etc", aim);
  // As if it had changed when everything had been looked at.
  const late = {
    confinement: wanted.confinement,
    arguments: (command: LauncherCommand) => wanted.arguments(command),
    hold: () => Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve() }),
  };
  const refused = place.files.operations(() => Promise.resolve(late));
  await assert.rejects(async () => await refused.writeFile(bytesOf(place.in("file")), bytesOf("x"), true, caller), {
    kind: "internal",
    message:
      `fs sandbox helper failed with status exit status: 126: sandbox: openat2 ${aim}: Symbolic link loop (os error 40)`,
  });
  await eventually("the helper has ended", () => !isAlive(helper!));
  assert.deepEqual(place.own.names(), ["aim"]);
  await files.writeFile(bytesOf(place.in("file")), bytesOf("x"), true, caller);
});

test("the one executable has the helper in it, behind a word", ["unshare"], async (place) => {
  const { argv, env } = helperCommand();
  const main = new URL("../../../main.ts", import.meta.url).pathname;
  const command = { argv: [argv[0]!, "run", "-A", "--no-check", "--quiet", main, FILES_HELPER_WORD, "3"], env };
  using files = new ConfinedFiles({ log: silentLog }, command);
  const operations = files.operations(() => place.confinement(place.workspace()));
  await operations.writeFile(bytesOf(place.in("file")), bytesOf("x"), true, caller);
  await assert.rejects(
    async () => await operations.writeFile(bytesOf("/etc/x"), bytesOf("x"), true, caller),
    READ_ONLY,
  );
  assert.deepEqual(place.own.names(), ["file"]);
  files[Symbol.dispose]();
  await files.left();
});

test("several operations share one view, which is gone with them", WITH_VIEWS, async (place) => {
  Deno.writeTextFileSync(place.in("file"), "x");
  const enforce = () => place.confinement(place.workspace());
  let kept: FileOperations | undefined;
  const found = await place.files.during(enforce, caller, async (files) => {
    kept = files;
    assert.equal(place.held, 1);
    const looks = ["file", "none", "."].map(async (name): Promise<Metadata | string> => {
      try {
        return await files.getMetadata(bytesOf(place.in(name)), true, caller);
      } catch (error) {
        return (error as Error).message;
      }
    });
    await assert.rejects(async () => await files.writeFile(bytesOf("/etc/x"), bytesOf("x"), true, caller), READ_ONLY);
    return await Promise.all(looks);
  });
  assert.deepEqual(found.map((one) => typeof one === "string" ? one : one.isDirectory), [false, ABSENT.message, true]);
  assert.throws(() => kept!.getMetadata(bytesOf("/"), true, caller), /the view has been left/);
  assert.deepEqual(place.own.names(), ["file"]);
  assert.equal(await place.files.during(enforce, caller, () => Promise.resolve("nothing")), "nothing");
  await assert.rejects(
    place.files.during(enforce, caller, () => Promise.reject(new Error("of its own"))),
    /of its own/,
  );
  const names = (await place.under([READ_ALL]).readDirectory(bytesOf(place.own.workspace), caller)).map((
    { fileName },
  ) => fileName);
  assert.deepEqual(names, ["file"]);
  assert.equal(place.helpers().length, 1);
});

test("what waits for its turn asks what holds when that comes, and more than four do", WITH_VIEWS, async (place) => {
  const confinement = await place.confinement(place.workspace());
  let asked = 0;
  const enforce = () => (asked++, Promise.resolve(confinement));
  const files = place.files.operations(enforce);
  const doors = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const inside = doors.map(({ promise }) => place.files.during(enforce, caller, () => promise));
  const aborting = new AbortController();
  const early = files.getMetadata(bytesOf("/"), true, { ...caller, signal: aborting.signal });
  const waiting = files.getMetadata(bytesOf("/"), true, caller);
  const together = place.files.during(enforce, caller, (files) => Promise.resolve(files));
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(asked, 4);
  aborting.abort(new Error("not wanted"));
  await assert.rejects(async () => await early, /not wanted/);
  doors[0]!.resolve();
  assert.ok((await waiting).isDirectory);
  await together;
  assert.equal(asked, 6);
  for (const { resolve } of doors) resolve();
  await Promise.all(inside);
});

test("what is under way when all is over fails", WITH_VIEWS, async (place) => {
  const files = place.under();
  const [helper] = await helpersOf(place, files);
  Deno.kill(helper!, "SIGSTOP");
  const waiting = files.getMetadata(bytesOf("/"), true, caller);
  await eventually("it was asked", () => place.held === 1);
  place.files[Symbol.dispose]();
  await assert.rejects(async () => await waiting, /fs sandbox helper failed/);
  await assert.rejects(async () => await files.getMetadata(bytesOf("/"), true, caller));
});

test("grants are held, with a helper for each plan", ["landlock"], async (place) => {
  Deno.mkdirSync(place.in("open"));
  const names = [".git", ".codex", ".agents", ".aws"];
  const writable = [place.in("open"), ...names.map((name) => place.in(`open/${name}`))].map((path) =>
    entry(path, "write")
  );
  const secret = `${place.own.root}/secret`;
  Deno.writeTextFileSync(secret, "secret");
  const files = place.under([{ path: { kind: "minimal" }, access: "read" }, ...writable]);
  await files.writeFile(bytesOf(place.in("open/file")), bytesOf("x"), true, caller);
  await files.copy(bytesOf(place.in("open/file")), bytesOf(place.in("open/copy")), false, caller);
  assert.equal(await contentOf(files, place.in("open/copy")), "x");
  for (const path of [secret, place.in("open/link"), "/proc/self/mem", "/proc/1/root"]) {
    if (path.endsWith("link")) Deno.symlinkSync(secret, path);
    await assert.rejects(contentOf(files, path), DENIED, path);
    await assert.rejects(async () => await files.getMetadata(bytesOf(path), true, caller), DENIED, path);
    await assert.rejects(async () => await files.canonicalize(bytesOf(path), caller), DENIED, path);
  }
  await assert.rejects(async () => await files.writeFile(bytesOf(secret), bytesOf("x"), true, caller), DENIED);
  await assert.rejects(async () => await files.createDirectory(bytesOf(place.in("new")), both, caller), DENIED);
  assert.equal(Deno.readTextFileSync(secret), "secret");
  const [first] = place.helpers();
  const others = place.under([READ_ALL]);
  assert.equal(await contentOf(others, secret), "secret");
  await assert.rejects(
    async () => await others.writeFile(bytesOf(place.in("open/file")), bytesOf("y"), true, caller),
    DENIED,
  );
  assert.equal(place.helpers().length, 2);
  assert.ok((await files.getMetadata(bytesOf(place.in("open/file")), true, caller)).isFile);
  assert.ok(place.helpers().includes(first!), "the plan's own is used again");
  Deno.renameSync(place.in("open"), place.in("old"));
  Deno.mkdirSync(place.in("open"));
  await files.writeFile(bytesOf(place.in("open/file")), bytesOf("z"), true, caller);
  assert.equal(Deno.readTextFileSync(place.in("open/file")), "z", "what lies at the path now is what is granted");
  for (let count = 0; count < 5; count++) {
    Deno.writeTextFileSync(place.in(`file${count}`), "x");
    const one = place.under([READ_ALL, entry(place.in(`file${count}`), "write")]);
    await one.writeFile(bytesOf(place.in(`file${count}`)), bytesOf("y"), true, caller);
  }
  assert.ok(place.helpers().length <= 4);
});

/** The helper that a first request starts. */
async function helpersOf(place: ConfinedPlace, files: FileOperations): Promise<number[]> {
  await files.getMetadata(bytesOf("/"), true, caller);
  return place.helpers();
}

function descriptorsOf(pid: number): number {
  return [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
}

/** By a root user, who can become others. */
const asAnother = isRoot && Deno.env.get("CONFINED_FILES_AS") === undefined;

Deno.test({
  name: "all this holds for an ordinary user",
  ignore: !asAnother || !await canStart(),
  async fn() {
    const home = Deno.realPathSync(Deno.makeTempDirSync());
    try {
      Deno.chownSync(home, ORDINARY.uid, ORDINARY.gid);
      const variables = [`HOME=${home}`, `DENO_DIR=${home}/deno`, `TMPDIR=${home}`, "CONFINED_FILES_AS=1"];
      const [program = "", ...args] = [...ORDINARY.prefix, "env", ...variables, Deno.execPath()];
      const file = new URL(import.meta.url).pathname;
      const { success, stdout, stderr } = await new Deno.Command(program, {
        args: [...args, "test", "-A", "--no-check", "--filter=/unshare|landlock/", "--no-lock", "--cached-only", file],
      }).output();
      assert.ok(success, `${textOf(stdout)}\n${textOf(stderr)}`);
      assert.match(textOf(stdout), /ok/);
    } finally {
      Deno.removeSync(home, { recursive: true });
    }
  },
});

/** Whether the ordinary user can run our executable and read our files. */
async function canStart(): Promise<boolean> {
  const [program = "", ...args] = [
    ...ORDINARY.prefix,
    "env",
    Deno.execPath(),
    "eval",
    `Deno.statSync(${JSON.stringify(new URL(import.meta.url).pathname)})`,
  ];
  try {
    const options = { args, stdout: "null", stderr: "null", env: { DENO_DIR: "/nonexistent" } } as const;
    return (await new Deno.Command(program, options).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
