import assert from "node:assert/strict";
import fc from "fast-check";
import { readDirectory } from "../../../lib/fs/linux/read_directory.ts";
import { walk } from "../../../lib/fs/linux/walk.ts";
import type { NativePath, WalkOptions, WalkResult } from "../../../lib/fs/operations.ts";
import { cString } from "../../../lib/linux/cstring.ts";
import { AT_FDCWD, O_CREAT, openAt } from "../../../lib/linux/file_calls.ts";
import { close } from "../../../lib/linux/libc.ts";
import { PathUri } from "../../../lib/path_uri.ts";
import { asOrdinaryUser, bytesOf, isRoot, never, Scratch } from "../scratch.ts";
import { plant, thinSlices, trees, wholeSlice } from "./trees.ts";

const ignore = Deno.build.os !== "linux";

const WIDE: WalkOptions = {
  maxDepth: 64,
  maxDirectories: 10_000,
  maxEntries: 50_000,
  followDirectorySymlinks: false,
  pruneHiddenDirectories: false,
};

/** What does not have to give way is answered at once. */
function walkAtOnce(path: NativePath, options: Partial<WalkOptions> = {}): WalkResult {
  const result = walk(path, { ...WIDE, ...options }, wholeSlice(), never);
  if (result instanceof Promise) throw new Error("a walk that need not wait has waited");
  return result;
}

/** Entries and errors with what is behind the URI of the root. */
function below(root: string, { entries, errors, truncated }: WalkResult) {
  const start = PathUri.fromNative(root).length;
  return {
    entries: entries.map(({ path, kind }) => `${path.slice(start)}${kind === "directory" ? "/" : ""}`),
    errors: errors.map(({ path, message }) => `${path.slice(start)}: ${message}`),
    truncated,
  };
}

/** The same in the plainest way: paths, the runtime's functions and no care for time. */
function naiveWalk(root: string, options: WalkOptions): WalkResult {
  const entries: { path: string; kind: "file" | "directory" }[] = [];
  const queue = [{ path: root, depth: 0 }];
  const entered = new Set([Deno.realPathSync(root)]);
  let looked = 0;
  for (let read = 0; read < queue.length; read++) {
    if (read === options.maxDirectories) return { entries, errors: [], truncated: true };
    const { path: directory, depth } = queue[read]!;
    const names = [...Deno.readDirSync(directory)].map(({ name }) => name).filter((name) =>
      leads(`${directory}/${name}`)
    );
    names.sort((a, b) => compareBytes(new TextEncoder().encode(a), new TextEncoder().encode(b)));
    for (const name of names) {
      if (looked++ === options.maxEntries) return { entries, errors: [], truncated: true };
      const path = `${directory}/${name}`;
      const { isSymlink, isFile } = Deno.lstatSync(path);
      if (isSymlink && !options.followDirectorySymlinks) continue;
      const isDirectory = Deno.statSync(path).isDirectory;
      if (!isDirectory && (isSymlink || !isFile)) continue;
      entries.push({ path: PathUri.fromNative(path), kind: isDirectory ? "directory" : "file" });
      if (!isDirectory || depth === options.maxDepth) continue;
      if (options.pruneHiddenDirectories && name.startsWith(".")) continue;
      const real = Deno.realPathSync(path);
      if (options.followDirectorySymlinks && entered.has(real)) continue;
      entered.add(real);
      queue.push({ path, depth: depth + 1 });
    }
  }
  return { entries, errors: [], truncated: false };
}

function leads(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return (a[at] ?? -1) - (b[at] ?? -1);
}

const NAMES = ["a", "B", ".hidden", "a b", "\u{ff5e}", "😀", "é", "n\n%2F", "x".repeat(255)];
const limit = fc.oneof(fc.constant(1000), fc.integer({ min: 1, max: 12 }));
const options = fc.record({
  maxDepth: fc.constantFrom(64, 0, 1, 2),
  maxDirectories: limit,
  maxEntries: limit,
  followDirectorySymlinks: fc.boolean(),
  pruneHiddenDirectories: fc.boolean(),
});

Deno.test("a walk says what the plainest one would", { ignore }, async () => {
  const targets = ["a", "B", "..", ".", "../a", "../..", "nowhere", "a/B", ".hidden"];
  await fc.assert(
    fc.asyncProperty(trees(NAMES, targets), options, fc.boolean(), async (tree, options, thin) => {
      using scratch = new Scratch();
      Deno.mkdirSync(`${scratch.root}/far/up`, { recursive: true }); // what links lead up to
      plant(`${scratch.root}/far/up/tree`, tree);
      const slice = thin ? thinSlices().slice : wholeSlice();
      const result = await walk(scratch.path("far/up/tree"), options, slice, never);
      assert.deepEqual(result, naiveWalk(`${scratch.root}/far/up/tree`, options));
    }),
    { numRuns: 100 },
  );
});

Deno.test("a directory of thousands is listed and walked whole, in steps", { ignore }, async () => {
  using scratch = new Scratch();
  const names = Array.from({ length: 5000 }, (_, index) => `${(index * 7919) % 5000} é`);
  for (const name of names) scratch.write(name, "");
  const thin = thinSlices();
  const { entries, truncated } = await walk(bytesOf(scratch.root), WIDE, thin.slice, never);
  const uris = names.map((name) => PathUri.fromNative(`${scratch.root}/${name}`)).sort();
  assert.deepEqual(entries, uris.map((path) => ({ path, kind: "file" })));
  assert.equal(truncated, false);
  assert.ok(thin.count() > 100);
  const listed = await readDirectory(bytesOf(scratch.root), thinSlices().slice, never);
  assert.deepEqual(listed.map(({ fileName }) => fileName).sort(), names.toSorted());
  assert.ok(listed.every(({ isFile, isDirectory }) => isFile && !isDirectory));
});

function touch(path: NativePath): void {
  close(openAt(AT_FDCWD, cString(path), O_CREAT, 0o644));
}

/** What an answer may cost, in bytes; each entry and each error costs 64 besides its texts. */
const BUDGET_BYTES = 4 * 1024 * 1024;

Deno.test("an answer is not larger than its budget", { ignore }, () => {
  using scratch = new Scratch();
  scratch.directory("full");
  for (let index = 1000; index < 6000; index++) touch(scratch.path("full/", '"'.repeat(250), `${index}`));
  const { entries, truncated } = walkAtOnce(scratch.path("full"));
  const cost = entries[0]!.path.length + 64;
  assert.equal(entries.length, Math.floor(BUDGET_BYTES / cost));
  assert.equal(truncated, true);
});

Deno.test("errors use up the budget as well, with their messages", { ignore }, () => {
  using scratch = new Scratch();
  scratch.directory("full");
  for (let index = 1000; index < 2900; index++) touch(scratch.path("full/", new Array(250).fill(0xff), `${index}`));
  const { entries, errors, truncated } = walkAtOnce(scratch.path("full"));
  const cost = errors[0]!.path.length + errors[0]!.message.length + 64;
  assert.equal(errors.length, Math.floor(BUDGET_BYTES / cost));
  assert.deepEqual(entries, []);
  assert.equal(truncated, true);
});

Deno.test("paths that are too long for the system are errors", { ignore }, () => {
  using scratch = new Scratch();
  const names = Array.from("abcdefghijklmnopq", (letter) => letter.repeat(255));
  scratch.shell(names.map((name) => `touch 1 && mkdir ${name} && cd -P ${name}`).join(" && "));
  const { entries, errors } = below(scratch.root, walkAtOnce(bytesOf(scratch.root)));
  const paths = names.map((_, index) => `/${names.slice(0, index + 1).join("/")}`);
  const reachable = paths.filter((path) => scratch.root.length + path.length <= 4095);
  assert.ok(reachable.length < paths.length);
  const directories = entries.filter((path) => path.endsWith("/"));
  assert.deepEqual(directories.map(({ length }) => length), reachable.map(({ length }) => length + 1));
  assert.deepEqual(errors, [`${paths[reachable.length]}: Filename too long (os error 36)`]);
  scratch.shell("rm -rf [a-z]*"); // the runtime's own removal cannot name them
});

Deno.test("what an ordinary user may not read or search is reported", { ignore }, () => {
  using scratch = new Scratch();
  scratch.shell("chmod 755 . && mkdir -p closed/in listed/d open/in searched/in && touch listed/f && ln -s f listed/l");
  scratch.shell(`mkfifo listed/p; chmod ${isRoot ? "700" : "000"} closed`);
  scratch.shell(`chmod ${isRoot ? "744" : "444"} listed; chmod ${isRoot ? "711" : "111"} searched`);
  const denied = "Permission denied (os error 13)";
  asOrdinaryUser(() => {
    assert.deepEqual(below(scratch.root, walkAtOnce(bytesOf(scratch.root))), {
      entries: ["/closed/", "/listed/", "/open/", "/searched/", "/open/in/"],
      errors: ["/closed", "/listed/d", "/listed/f", "/listed/p", "/searched"].map((path) => `${path}: ${denied}`),
      truncated: false,
    });
    const closed = walkAtOnce(scratch.path("closed"));
    assert.deepEqual(closed.errors, [{ path: PathUri.fromNative(`${scratch.root}/closed`), message: denied }]);
    const listed = readDirectory(scratch.path("listed"), wholeSlice(), never);
    if (listed instanceof Promise) throw new Error("a short list needs no promise");
    assert.deepEqual(listed.map(({ fileName }) => fileName).sort(), ["d", "f", "p"]);
    assert.throws(() => readDirectory(scratch.path("searched"), wholeSlice(), never), { message: denied });
  });
  scratch.shell("chmod 755 *");
});

Deno.test("the root of a walk may have any name, or none", { ignore }, () => {
  using scratch = new Scratch();
  scratch.shell('d=$(printf \'r\\377\'); mkdir "$d" && touch "$d/f"');
  const { entries } = walkAtOnce(scratch.path("r", [0xff]));
  assert.deepEqual(entries, [{ path: `${PathUri.fromNative(scratch.root)}/r%FF/f`, kind: "file" }]);
  const root = walkAtOnce(bytesOf("/"), { maxDepth: 0 }).entries.map(({ path }) => path);
  assert.ok(root.includes("file:///usr") && root.includes("file:///etc"));
});

Deno.test("names that show as the name of another file stand for that one", { ignore }, () => {
  using scratch = new Scratch();
  scratch.write("bad\ufffd", "");
  scratch.shell("touch \"$(printf 'bad\\377')\"; mkdir \"$(printf 'lost\\377')\"");
  assert.deepEqual(below(scratch.root, walkAtOnce(bytesOf(scratch.root))), {
    entries: ["/bad%EF%BF%BD", "/bad%EF%BF%BD"],
    errors: ["/lost%EF%BF%BD: No such file or directory (os error 2)"],
    truncated: false,
  });
});
