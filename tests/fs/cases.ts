/** What operations on files do, for every back end; what is expected is the reference's, except where it is said. */

import assert from "node:assert/strict";
import type { DirectoryEntry, FileContent, FileOperations, WalkOptions } from "../../lib/fs/operations.ts";
import { PathUri } from "../../lib/path_uri.ts";
import { assertSameBytes, isRoot, pattern, type Scratch, textOf } from "./scratch.ts";

export interface Scene {
  readonly files: FileOperations;
  readonly scratch: Scratch;
}

export interface FileCase {
  readonly name: string;
  readonly run: (scene: Scene) => Promise<void>;
  readonly ignore?: boolean;
}

export const caller = { signal: new AbortController().signal, budgetMs: () => 5 };

const ENOENT = "notFound: No such file or directory (os error 2)";
const ENXIO = "internal: No such device or address (os error 6)";
const EBADF = "internal: Bad file descriptor (os error 9)";
const EEXIST = "internal: File exists (os error 17)";
const ENOTDIR = "internal: Not a directory (os error 20)";
const EISDIR = "internal: Is a directory (os error 21)";
const EINVAL = "invalidRequest: Invalid argument (os error 22)";
const ELOOP = "internal: Symbolic link loop (os error 40)";
const ENOTEMPTY = "internal: Directory not empty (os error 39)";
const LINK = "invalidRequest: path contains a symbolic link";
const IRREGULAR = "invalidRequest: path is not a regular file";

/** The kind and the words of what it throws or rejects with. */
async function failure(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    const { kind, message } = error as Error & { readonly kind?: string };
    return `${kind}: ${message}`;
  }
  throw new Error("it succeeded");
}

async function refuses(what: string, act: () => unknown): Promise<void> {
  assert.equal(await failure(act), what);
}

function contentOf(content: FileContent): Uint8Array {
  return "base64" in content ? Uint8Array.fromBase64(textOf(content.base64)) : content;
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** All that is below a directory, sorted: `name/`, `name@target`, `name=content` or `name!` for anything else. */
export function treeOf(directory: string, prefix = ""): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory, isFile, isSymlink }) => {
    const path = `${directory}/${name}`;
    if (isDirectory) return [`${prefix}${name}/`, ...treeOf(path, `${prefix}${name}/`)];
    if (isSymlink) return [`${prefix}${name}@${Deno.readLinkSync(path)}`];
    return [isFile ? `${prefix}${name}=${Deno.readTextFileSync(path)}` : `${prefix}${name}!`];
  }).sort();
}

function modeOf(path: string): string {
  return (Deno.lstatSync(path).mode! & 0o7777).toString(8);
}

const READING: readonly FileCase[] = [
  {
    name: "readFile gives the content of a file, of any length, through links",
    async run({ files, scratch }) {
      scratch.link("l", "f");
      for (const length of [0, 1, 100, 1024 * 1024, 1024 * 1024 + 1, 3 * 1024 * 1024 + 5]) {
        const content = pattern(length);
        scratch.write("f", content);
        assertSameBytes(contentOf(await files.readFile(scratch.path("l"), true, caller)), content, `${length} bytes`);
        assertSameBytes(contentOf(await files.readFile(scratch.path("f"), false, caller)), content, `${length} bytes`);
      }
    },
  },
  {
    name: "readFile refuses what is no regular file, without waiting for it",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.fifo("p");
      scratch.socket("s");
      const read = (name: string, follow: boolean) => () => files.readFile(scratch.path(name), follow, caller);
      for (const name of ["d", "p"]) {
        await refuses(`invalidRequest: path \`${scratch.root}/${name}\` is not a file`, read(name, true));
        await refuses(IRREGULAR, read(name, false));
      }
      for (const follow of [true, false]) await refuses(ENXIO, read("s", follow));
    },
  },
  {
    name: "readFile names the errors of paths",
    async run({ files, scratch }) {
      scratch.write("f", "");
      scratch.link("loop", "loop");
      scratch.link("dangling", "nowhere");
      const read = (name: string) => () => files.readFile(scratch.path(name), true, caller);
      await refuses(ENOENT, read("nope"));
      await refuses(ENOENT, read("dangling"));
      await refuses(ENOTDIR, read("f/x"));
      await refuses(ELOOP, read("loop"));
      await refuses("internal: Filename too long (os error 36)", read("n".repeat(256)));
    },
  },
  {
    name: "readFile follows no link if it is told so",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.write("d/f", "1");
      scratch.link("ld", "d");
      scratch.link("lf", "d/f");
      const read = (name: string) => () => files.readFile(scratch.path(name), false, caller);
      await refuses(ENOTDIR, read("ld/f"));
      await refuses(ELOOP, read("lf"));
      assert.deepEqual(await read("d/f")(), bytes("1"));
    },
  },
  {
    name: "readFile refuses what is larger than its limit, by its size",
    async run({ files, scratch }) {
      scratch.sparse("f", 512 * 1024 * 1024 + 1);
      const refusal = "invalidRequest: file is too large to read: limit is 536870912 bytes";
      await refuses(refusal, () => files.readFile(scratch.path("f"), true, caller));
    },
  },
  {
    name: "names that are not UTF-8 are read or not there",
    async run({ files, scratch }) {
      scratch.shell("printf x > \"$(printf 'bad\\377')\"");
      let content = "";
      try {
        content = textOf(contentOf(await files.readFile(scratch.path("bad", [0xff]), true, caller)));
      } catch (error) {
        assert.equal((error as Error).message, "No such file or directory (os error 2)");
        content = "x";
      }
      assert.equal(content, "x");
    },
  },
];

const BLOCKS: readonly FileCase[] = [
  {
    name: "an open file is read at any place, as the file that it was, while that grows and shrinks",
    async run({ files, scratch }) {
      scratch.write("f", "0123456789");
      using file = await files.openForReading(scratch.path("f"), caller);
      const read = async (offset: bigint, length: number) => textOf(await file.read(offset, length, caller.signal));
      assert.equal(await read(8n, 5), "89");
      assert.equal(await read(0n, 4), "0123");
      assert.equal(await read(10n, 4), "");
      assert.equal(await read(2n ** 62n, 4), "");
      scratch.write("g", "other");
      Deno.renameSync(`${scratch.root}/f`, `${scratch.root}/h`);
      Deno.renameSync(`${scratch.root}/g`, `${scratch.root}/f`);
      assert.equal(await read(0n, 3), "012");
      Deno.writeTextFileSync(`${scratch.root}/h`, "ab", { append: true });
      assert.equal(await read(8n, 10), "89ab");
      Deno.truncateSync(`${scratch.root}/h`, 1);
      assert.equal(await read(0n, 10), "0");
    },
  },
  {
    name: "reads and writes of one file at the same time do not disturb each other",
    async run({ files, scratch }) {
      const content = pattern(64 * 1024);
      using target = await files.openForReplacing(scratch.path("f"), caller);
      const places = Array.from({ length: 16 }, (_, index) => index * 4096).reverse();
      await Promise.all(
        places.map((at) => target.write(BigInt(at), content.slice(at, at + 4096), caller.signal)),
      );
      assertSameBytes(scratch.read("f"), content);
      using source = await files.openForReading(scratch.path("f"), caller);
      const read = await Promise.all(places.map((at) => source.read(BigInt(at), 4096, caller.signal)));
      read.forEach((block, index) => assertSameBytes(block, content.slice(places[index], places[index]! + 4096)));
    },
  },
  {
    name: "ranges that end beyond 63 bits, and blocks of files that are open the other way, are errors",
    async run({ files, scratch }) {
      scratch.write("f", "1");
      using source = await files.openForReading(scratch.path("f"), caller);
      await refuses(EINVAL, () => source.read(2n ** 63n, 1, caller.signal));
      await refuses(EINVAL, () => source.read(2n ** 63n - 1n, 1, caller.signal));
      await refuses(EBADF, () => source.write(0n, bytes("x"), caller.signal));
      using target = await files.openForReplacing(scratch.path("g"), caller);
      await refuses(EBADF, () => target.read(0n, 1, caller.signal));
      await refuses(
        "internal: File too large (os error 27)",
        () => target.write(2n ** 63n - 10n, bytes("x"), caller.signal),
      );
    },
  },
  {
    name: "opening refuses what is no file, without waiting for it",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.fifo("p");
      scratch.socket("s");
      const reading = (name: string) => () => files.openForReading(scratch.path(name), caller);
      const replacing = (name: string) => () => files.openForReplacing(scratch.path(name), caller);
      for (const name of ["d", "p"]) {
        await refuses(`invalidRequest: path \`${scratch.root}/${name}\` is not a file`, reading(name));
      }
      await refuses(ENXIO, reading("s"));
      await refuses(EISDIR, replacing("d"));
      await refuses(ENXIO, replacing("p"));
      await refuses(ENXIO, replacing("s"));
      await refuses(ENOENT, replacing("no/f"));
      await refuses(
        "invalidRequest: path `/dev/null` is not a file",
        () => files.openForReplacing(bytes("/dev/null"), caller),
      );
    },
  },
  {
    name: "replacing empties a file in place, follows links and leaves gaps that read as zeros",
    async run({ files, scratch }) {
      scratch.write("f", "old content");
      Deno.chmodSync(`${scratch.root}/f`, 0o640);
      Deno.linkSync(`${scratch.root}/f`, `${scratch.root}/h`);
      scratch.link("l", "f");
      scratch.link("dangling", "made");
      using target = await files.openForReplacing(scratch.path("l"), caller);
      assert.equal(scratch.read("h").length, 0);
      await target.write(3n, bytes("ab"), caller.signal);
      assert.equal(textOf(scratch.read("h")), "\0\0\0ab");
      assert.equal(modeOf(`${scratch.root}/f`), "640");
      using _made = await files.openForReplacing(scratch.path("dangling"), caller);
      assert.deepEqual(scratch.read("made"), new Uint8Array());
    },
  },
];

const WRITING: readonly FileCase[] = [
  {
    name: "writeFile creates or replaces a file in place, through links",
    async run({ files, scratch }) {
      scratch.write("f", "old content");
      Deno.chmodSync(`${scratch.root}/f`, 0o600);
      Deno.linkSync(`${scratch.root}/f`, `${scratch.root}/h`);
      scratch.link("l", "f");
      scratch.link("dangling", "made");
      const large = pattern(5 * 1024 * 1024 + 3);
      await files.writeFile(scratch.path("l"), large, true, caller);
      assertSameBytes(scratch.read("h"), large);
      await files.writeFile(scratch.path("f"), bytes("short"), false, caller);
      assert.equal(textOf(scratch.read("h")), "short");
      assert.equal(modeOf(`${scratch.root}/f`), "600");
      await files.writeFile(scratch.path("dangling"), bytes("1"), true, caller);
      assert.equal(textOf(scratch.read("made")), "1");
      await files.writeFile(scratch.path("new"), bytes(""), false, caller);
      assert.equal(modeOf(`${scratch.root}/new`), (0o666 & ~Deno.umask()).toString(8));
    },
  },
  {
    name: "writeFile refuses directories, sockets, and pipes that nobody reads",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.fifo("p");
      scratch.socket("s");
      scratch.write("f", "1");
      for (const follow of [true, false]) {
        const write = (name: string) => () => files.writeFile(scratch.path(name), bytes("x"), follow, caller);
        await refuses(EISDIR, write("d"));
        await refuses(ENXIO, write("p"));
        await refuses(ENXIO, write("s"));
        await refuses(ENOENT, write("no/f"));
        await refuses(ENOTDIR, write("f/x"));
      }
      await files.writeFile(bytes("/dev/null"), bytes("x"), true, caller);
      await refuses(IRREGULAR, () => files.writeFile(bytes("/dev/null"), bytes("x"), false, caller));
    },
  },
  {
    name: "writeFile follows no link if it is told so",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.write("d/f", "1");
      scratch.link("ld", "d");
      scratch.link("lf", "d/f");
      scratch.link("dangling", "made");
      const write = (name: string) => () => files.writeFile(scratch.path(name), bytes("2"), false, caller);
      await refuses(ENOTDIR, write("ld/f"));
      await refuses(ELOOP, write("lf"));
      await refuses(ELOOP, write("dangling"));
      assert.deepEqual(treeOf(scratch.root), ["d/", "d/f=1", "dangling@made", "ld@d", "lf@d/f"]);
    },
  },
  {
    name: "writing on a full disk says so",
    async run({ files }) {
      const full = "internal: No space left on device (os error 28)";
      await refuses(full, () => files.writeFile(bytes("/dev/full"), bytes("x"), true, caller));
    },
  },
  {
    name: "whoever has gone changes no directories any more",
    async run({ files, scratch }) {
      scratch.write("f", "1");
      scratch.directory("d");
      const gone = { signal: AbortSignal.abort(new Error("gone")), budgetMs: () => 5 };
      const path = scratch.path.bind(scratch);
      const removal = { recursive: true, force: true, followSymlinks: true };
      for (
        const act of [
          () => files.createDirectory(path("e"), { recursive: true, followSymlinks: true }, gone),
          () => files.createDirectory(path("e"), { recursive: true, followSymlinks: false }, gone),
          () => files.remove(path("d"), removal, gone),
          () => files.copy(path("f"), path("g"), false, gone),
          () => files.copy(path("d"), path("e"), true, gone),
        ]
      ) {
        assert.match(await failure(act), /gone/, String(act));
      }
      assert.deepEqual(treeOf(scratch.root), ["d/", "f=1"]);
    },
  },
];

const DIRECTORIES: readonly FileCase[] = [
  {
    name: "createDirectory creates what is missing, and is content with what is there, if it is recursive",
    async run({ files, scratch }) {
      scratch.write("f", "");
      scratch.directory("d");
      scratch.link("ld", "d");
      scratch.link("dangling", "nowhere");
      scratch.link("loop", "loop");
      const create = (name: string) => () =>
        files.createDirectory(scratch.path(name), { recursive: true, followSymlinks: true }, caller);
      for (const name of ["a/b/c", "d", "ld", "ld/e"]) await create(name)();
      for (const name of ["f", "dangling", "dangling/x", "loop"]) await refuses(EEXIST, create(name));
      await refuses(ENOTDIR, create("f/x/y"));
      await files.createDirectory(bytes("/"), { recursive: true, followSymlinks: true }, caller);
      const expected = ["a/", "a/b/", "a/b/c/", "d/", "d/e/", "dangling@nowhere", "f=", "ld@d", "loop@loop"];
      assert.deepEqual(treeOf(scratch.root), expected);
    },
  },
  {
    name: "createDirectory creates one directory where there is nothing, if it is not recursive",
    async run({ files, scratch }) {
      scratch.link("dangling", "nowhere");
      scratch.link("here", ".");
      for (const followSymlinks of [true, false]) {
        const create = (name: string) => () =>
          files.createDirectory(scratch.path(name), { recursive: false, followSymlinks }, caller);
        await create(`new-${followSymlinks}`)();
        await refuses(EEXIST, create(`new-${followSymlinks}`));
        await refuses(EEXIST, create("dangling"));
        await refuses(ENOENT, create("no/x"));
        if (followSymlinks) await create("here/through")();
        else await refuses(ENOTDIR, create("here/x"));
      }
      await refuses(
        EEXIST,
        () => files.createDirectory(bytes("/"), { recursive: false, followSymlinks: true }, caller),
      );
    },
  },
  {
    name: "createDirectory goes through no link if it is told so",
    async run({ files, scratch }) {
      scratch.write("f", "");
      scratch.directory("d");
      scratch.link("ld", "d");
      scratch.link("dangling", "nowhere");
      const create = (name: string) => () =>
        files.createDirectory(scratch.path(name), { recursive: true, followSymlinks: false }, caller);
      for (const name of ["n/m", "n/m", "d"]) await create(name)();
      for (const name of ["ld", "ld/q", "f", "f/x", "dangling", "dangling/x"]) await refuses(ENOTDIR, create(name));
      assert.deepEqual(treeOf(scratch.root), ["d/", "dangling@nowhere", "f=", "ld@d", "n/", "n/m/"]);
    },
  },
  {
    name: "readDirectory lists what can be looked at, through links",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.directory("d/sub");
      scratch.write("d/f", "");
      scratch.fifo("d/p");
      scratch.link("d/lf", "f");
      scratch.link("d/ls", "sub");
      scratch.link("d/dangling", "nowhere");
      scratch.link("d/loop", "loop");
      scratch.link("l", "d");
      scratch.shell("cd d && touch .hidden \"$(printf 'bad\\377')\"");
      const entry = (fileName: string, kind?: "directory" | "file"): DirectoryEntry => ({
        fileName,
        isDirectory: kind === "directory",
        isFile: kind === "file",
      });
      const listed = [...await files.readDirectory(scratch.path("l"), caller)];
      listed.sort((a, b) => a.fileName < b.fileName ? -1 : 1);
      assert.deepEqual(listed, [
        entry(".hidden", "file"),
        entry("bad\ufffd", "file"),
        entry("f", "file"),
        entry("lf", "file"),
        entry("ls", "directory"),
        entry("p"),
        entry("sub", "directory"),
      ]);
      await refuses(ENOTDIR, () => files.readDirectory(scratch.path("d/f"), caller));
      await refuses(ENOENT, () => files.readDirectory(scratch.path("no"), caller));
    },
  },
  {
    name: "getMetadata tells of the target, and whether there is a link",
    async run({ files, scratch }) {
      scratch.write("f", "hello");
      Deno.utimeSync(`${scratch.root}/f`, new Date(1_000_000_000_123), new Date(1_000_000_000_123));
      scratch.directory("d");
      scratch.fifo("p");
      scratch.link("lf", "f");
      scratch.link("dangling", "nowhere");
      scratch.link("loop", "loop");
      const tell = (name: string) => files.getMetadata(scratch.path(name), true, caller);
      const file = { isDirectory: false, isFile: true, isSymlink: false, size: 5 };
      const times = { createdAtMs: 0, modifiedAtMs: 1_000_000_000_123 };
      assert.deepEqual(await tell("f"), { ...file, ...times });
      assert.deepEqual(await tell("lf"), { ...file, ...times, isSymlink: true });
      const { isDirectory, isFile } = await tell("d");
      assert.deepEqual([isDirectory, isFile], [true, false]);
      const pipe = await tell("p");
      assert.deepEqual([pipe.isDirectory, pipe.isFile, pipe.isSymlink, pipe.size], [false, false, false, 0]);
      await refuses(ENOENT, () => tell("dangling"));
      await refuses(ELOOP, () => tell("loop"));
      await refuses(ENOTDIR, () => tell("f/x"));
      Deno.utimeSync(`${scratch.root}/f`, new Date(-5000), new Date(-5000));
      assert.equal((await tell("f")).modifiedAtMs, 0);
    },
  },
  {
    name: "getMetadata refuses links if it is told so, and tells all times then",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.write("d/f", "hello");
      Deno.utimeSync(`${scratch.root}/d/f`, new Date(-5000), new Date(-5000));
      scratch.link("ld", "d");
      scratch.link("lf", "d/f");
      const tell = (name: string) => files.getMetadata(scratch.path(name), false, caller);
      const { createdAtMs, ...rest } = await tell("d/f");
      assert.deepEqual(rest, { isDirectory: false, isFile: true, isSymlink: false, size: 5, modifiedAtMs: -5000 });
      assert.ok(Math.abs(createdAtMs - Date.now()) < 3600_000);
      await refuses(LINK, () => tell("lf"));
      await refuses(ENOTDIR, () => tell("ld/f"));
      await refuses(ENOENT, () => tell("no"));
      assert.equal((await files.getMetadata(bytes("/"), false, caller)).isDirectory, true);
    },
  },
  {
    name: "canonicalize resolves all links; everything must exist",
    async run({ files, scratch }) {
      scratch.directory("d");
      scratch.write("d/f", "");
      scratch.link("ld", "d");
      scratch.link("dangling", "nowhere");
      scratch.link("loop", "loop");
      const real = (name: string) => files.canonicalize(scratch.path(name), caller);
      assert.equal(textOf(await real("ld/f")), `${scratch.root}/d/f`);
      assert.equal(textOf(await files.canonicalize(bytes("/"), caller)), "/");
      await refuses(ENOENT, () => real("dangling"));
      await refuses(ELOOP, () => real("loop"));
      await refuses(ENOTDIR, () => real("d/f/x"));
    },
  },
];

const EVERYTHING: WalkOptions = {
  maxDepth: 64,
  maxDirectories: 1000,
  maxEntries: 1000,
  followDirectorySymlinks: false,
  pruneHiddenDirectories: false,
};

/** The tree of the recordings. */
function plant(scratch: Scratch): void {
  for (const name of ["w", "w/a", "w/a/b", "w/.hid", "w/.hid/x", "w/B"]) scratch.directory(name);
  for (const name of ["f1", "a/f2", "a/b/f3", ".hid/h1", ".dotfile", "B/b1"]) scratch.write(`w/${name}`, "1");
  scratch.link("w/lf", "f1");
  scratch.link("w/la", "a");
  scratch.link("w/up", "..");
  scratch.link("w/dang", "nowhere");
  scratch.fifo("w/fifo");
}

async function walked({ files, scratch }: Scene, root: string, options: Partial<WalkOptions>): Promise<string> {
  const base = PathUri.fromNative(scratch.path(root));
  const { entries, errors, truncated } = await files.walk(scratch.path(root), { ...EVERYTHING, ...options }, caller);
  const short = (uri: string) => uri.startsWith(`${base}/`) ? uri.slice(base.length + 1) : uri === base ? "." : uri;
  const listed = entries.map(({ path, kind }) => short(path) + (kind === "directory" ? "/" : ""));
  const failed = errors.map(({ path, message }) => `${short(path)}: ${message}`);
  return [...listed, ...failed, ...(truncated ? ["…"] : [])].join(" ");
}

const WALKING: readonly FileCase[] = [
  {
    name: "walk lists a tree breadth first, by the bytes of the names",
    async run(scene) {
      plant(scene.scratch);
      const top = ".dotfile .hid/ B/ a/ f1";
      assert.equal(await walked(scene, "w", {}), `${top} .hid/h1 .hid/x/ B/b1 a/b/ a/f2 a/b/f3`);
      assert.equal(await walked(scene, "w", { pruneHiddenDirectories: true }), `${top} B/b1 a/b/ a/f2 a/b/f3`);
      assert.equal(await walked(scene, "w", { maxDepth: 0 }), top);
      assert.equal(await walked(scene, "w", { maxDepth: 1 }), `${top} .hid/h1 .hid/x/ B/b1 a/b/ a/f2`);
      const odd = ["\ue000", "\u{10000}", "z", "é"];
      scene.scratch.directory("odd");
      for (const name of odd) scene.scratch.write(`odd/${name}`, "");
      assert.equal(await walked(scene, "odd", {}), "z %C3%A9 %EE%80%80 %F0%90%80%80");
    },
  },
  {
    name: "walk enters a directory once, whatever links lead to it",
    async run(scene) {
      plant(scene.scratch);
      scene.scratch.link("lw", "w");
      const options = { followDirectorySymlinks: true };
      const top = ".dotfile .hid/ B/ a/ f1 la/ up/";
      // `up` leads above the root, from where the root itself is listed again and not entered again.
      assert.equal(
        await walked(scene, "w", options),
        `${top} .hid/h1 .hid/x/ B/b1 a/b/ a/f2 up/lw/ up/w/ a/b/f3`,
      );
      assert.equal(await walked(scene, "lw", {}), "");
      assert.equal(await walked(scene, "lw", { ...options, maxDepth: 0 }), top);
    },
  },
  {
    name: "walk ends at its limits and says so",
    async run(scene) {
      plant(scene.scratch);
      const all = ".dotfile .hid/ B/ a/ f1 .hid/h1 .hid/x/ B/b1 a/b/ a/f2 a/b/f3";
      assert.equal(await walked(scene, "w", { maxEntries: 1 }), ".dotfile …");
      assert.equal(await walked(scene, "w", { maxEntries: 3 }), ".dotfile .hid/ B/ …");
      assert.equal(await walked(scene, "w", { maxEntries: 14 }), `${all.slice(0, -7)} …`);
      assert.equal(await walked(scene, "w", { maxEntries: 15 }), all);
      assert.equal(await walked(scene, "w", { maxDirectories: 1 }), ".dotfile .hid/ B/ a/ f1 …");
      assert.equal(await walked(scene, "w", { maxDirectories: 3 }), ".dotfile .hid/ B/ a/ f1 .hid/h1 .hid/x/ B/b1 …");
      assert.equal(await walked(scene, "w", { maxDirectories: 6 }), all);
      const refused = (options: Partial<WalkOptions>) => failure(() => walked(scene, "no", options));
      const maximums =
        "invalidRequest: filesystem walk limits exceed maximums: depth=64, directories=10000, entries=50000";
      for (const options of [{ maxDepth: 65 }, { maxDirectories: 10_001 }, { maxEntries: 50_001 }]) {
        assert.equal(await refused(options), maximums);
      }
      for (const options of [{ maxDirectories: 0 }, { maxEntries: 0 }]) {
        assert.equal(await refused(options), "invalidRequest: filesystem walk limits must be greater than zero");
      }
    },
  },
  {
    name: "walk has no entries for what is no directory, and errors for what is not there",
    async run(scene) {
      const { scratch } = scene;
      scratch.write("f", "");
      scratch.link("dangling", "nowhere");
      scratch.link("loop", "loop");
      assert.equal(await walked(scene, "f", {}), "");
      await refuses(ENOENT, () => walked(scene, "no", {}));
      await refuses(ENOENT, () => walked(scene, "dangling", {}));
      await refuses(ELOOP, () => walked(scene, "loop", {}));
      await refuses(ENOTDIR, () => walked(scene, "f/x", {}));
    },
  },
  {
    name: "walk reports names that are not UTF-8 as not there",
    async run(scene) {
      scene.scratch.directory("w");
      scene.scratch.shell("cd w && touch \"$(printf 'bad\\377')\" good \"$(printf 'real\\357\\277\\275')\"");
      assert.equal(
        await walked(scene, "w", {}),
        "good real%EF%BF%BD bad%EF%BF%BD: No such file or directory (os error 2)",
      );
    },
  },
];

const REMOVING: readonly FileCase[] = [
  {
    name: "remove takes away files, links and trees, but not what links lead to",
    async run({ files, scratch }) {
      for (const name of ["d", "d/e", "empty"]) scratch.directory(name);
      for (const name of ["f", "d/e/x", "kept"]) scratch.write(name, "");
      scratch.link("d/out", "../kept");
      scratch.link("ld", "d");
      scratch.link("dangling", "nowhere");
      scratch.fifo("p");
      const remove = (name: string, recursive: boolean, force = true) => () =>
        files.remove(scratch.path(name), { recursive, force, followSymlinks: true }, caller);
      await remove("ld", true)();
      await remove("f", true)();
      await remove("f", true)();
      await refuses(ENOENT, remove("f", true, false));
      await refuses(ENOENT, remove("no/x", true, false));
      await remove("no/x", true)();
      await refuses(ENOTDIR, remove("kept/x", true));
      await remove("dangling", false, false)();
      await remove("p", false, false)();
      await refuses(ENOTEMPTY, remove("d", false));
      await remove("empty", false)();
      assert.deepEqual(treeOf(scratch.root), ["d/", "d/e/", "d/e/x=", "d/out@../kept", "kept="]);
      await remove("d", true, false)();
      assert.deepEqual(treeOf(scratch.root), ["kept="]);
    },
  },
  {
    name: "remove refuses links if it is told so, and then does not remove trees",
    async run({ files, scratch }) {
      for (const name of ["d", "d/e"]) scratch.directory(name);
      scratch.write("d/f", "");
      scratch.link("ld", "d");
      const remove = (name: string, recursive = false, force = true) => () =>
        files.remove(scratch.path(name), { recursive, force, followSymlinks: false }, caller);
      await refuses("internal: recursive no-follow removal is unsupported", remove("no", true));
      await refuses(LINK, remove("ld"));
      await refuses(ENOTDIR, remove("ld/f"));
      await refuses(ENOTEMPTY, remove("d"));
      await refuses(ENOENT, remove("no", false, false));
      await remove("no")();
      await remove("d/f")();
      await remove("d/e")();
      assert.deepEqual(treeOf(scratch.root), ["d/", "ld@d"]);
    },
  },
];

const COPYING: readonly FileCase[] = [
  {
    name: "copy writes to a device and leaves its mode as it is",
    ignore: !isRoot,
    async run({ files, scratch }) {
      scratch.write("f", "1");
      Deno.chmodSync(`${scratch.root}/f`, 0o600);
      scratch.nullDevice("null");
      Deno.chmodSync(`${scratch.root}/null`, 0o666);
      await files.copy(scratch.path("f"), scratch.path("null"), false, caller);
      assert.equal(modeOf(`${scratch.root}/null`), "666");
    },
  },
  {
    name: "copy makes a file like another, in place, with its mode",
    async run({ files, scratch }) {
      const large = pattern(3 * 1024 * 1024 + 1);
      scratch.write("f", large);
      scratch.write("old", "old content");
      Deno.linkSync(`${scratch.root}/old`, `${scratch.root}/h`);
      scratch.link("dangling", "made");
      Deno.chmodSync(`${scratch.root}/f`, 0o4751);
      for (const name of ["new", "old", "dangling"]) {
        await files.copy(scratch.path("f"), scratch.path(name), false, caller);
      }
      for (const name of ["new", "h", "made"]) {
        assertSameBytes(scratch.read(name), large);
        assert.equal(modeOf(`${scratch.root}/${name}`), "4751");
      }
      assert.equal(Deno.lstatSync(`${scratch.root}/dangling`).isSymlink, true);
    },
  },
  {
    name: "copy leaves a file as it is that is copied onto itself (the reference empties it)",
    async run({ files, scratch }) {
      scratch.write("f", "1");
      scratch.link("l", "f");
      Deno.linkSync(`${scratch.root}/f`, `${scratch.root}/h`);
      for (const name of ["f", "l", "h"]) await files.copy(scratch.path("f"), scratch.path(name), false, caller);
      assert.deepEqual(treeOf(scratch.root), ["f=1", "h=1", "l@f"]);
    },
  },
  {
    name: "copy makes a link like another, where nothing is",
    async run({ files, scratch }) {
      scratch.write("f", "");
      scratch.link("l", "nowhere");
      scratch.link("loop", "loop");
      const copy = (from: string, to: string) => () => files.copy(scratch.path(from), scratch.path(to), false, caller);
      await copy("l", "l2")();
      await copy("loop", "loop2")();
      await refuses(EEXIST, copy("l", "f"));
      await refuses(EEXIST, copy("loop", "l2"));
      await refuses(ENOENT, copy("l", "no/l"));
      assert.deepEqual(treeOf(scratch.root), ["f=", "l2@nowhere", "l@nowhere", "loop2@loop", "loop@loop"]);
    },
  },
  {
    name: "copy names what is wrong with files and places",
    async run({ files, scratch }) {
      scratch.write("f", "1");
      scratch.directory("d");
      scratch.fifo("p");
      scratch.socket("s");
      const copy = (from: string, to: string) => () => files.copy(scratch.path(from), scratch.path(to), false, caller);
      await refuses(EISDIR, copy("f", "d"));
      await refuses(ENOENT, copy("f", "no/x"));
      await refuses(ENOTDIR, copy("f", "f/x"));
      await refuses(ENOENT, copy("no", "x"));
      await refuses(ENOTDIR, copy("f/x", "x"));
      await refuses(ENXIO, copy("f", "s"));
      await refuses(ENXIO, copy("f", "p"));
      await refuses("invalidRequest: fs/copy requires recursive: true when sourcePath is a directory", copy("d", "x"));
      for (const name of ["p", "s"]) {
        await refuses(
          "invalidRequest: fs/copy only supports regular files, directories, and symlinks",
          copy(name, "x"),
        );
      }
    },
  },
  {
    name: "copy makes a tree like another, or part of one that is there",
    async run({ files, scratch }) {
      for (const name of ["src", "src/sub", "exist"]) scratch.directory(name);
      scratch.write("src/f", "f");
      Deno.chmodSync(`${scratch.root}/src/f`, 0o600);
      Deno.chmodSync(`${scratch.root}/src/sub`, 0o700);
      scratch.write("src/sub/g", "g");
      scratch.link("src/l", "f");
      scratch.link("src/dangling", "nowhere");
      scratch.fifo("src/p");
      scratch.write("exist/keep", "k");
      scratch.write("exist/f", "old content");
      scratch.write("afile", "x");
      const copy = (to: string) => () => files.copy(scratch.path("src"), scratch.path(to), true, caller);
      const expected = ["dangling@nowhere", "f=f", "l@f", "sub/", "sub/g=g"];
      await copy("new")();
      assert.deepEqual(treeOf(`${scratch.root}/new`), expected);
      assert.equal(modeOf(`${scratch.root}/new/f`), "600");
      assert.equal(modeOf(`${scratch.root}/new/sub`), (0o777 & ~Deno.umask()).toString(8));
      await copy("deep/er/x")();
      assert.deepEqual(treeOf(`${scratch.root}/deep/er/x`), expected);
      await copy("exist")();
      assert.deepEqual(treeOf(`${scratch.root}/exist`), [...expected, "keep=k"].sort());
      await refuses(EEXIST, copy("afile"));
      await refuses(EEXIST, copy("new")); // because of the links
    },
  },
  {
    name: "copy refuses a directory as the place for itself, by whatever path",
    async run({ files, scratch }) {
      for (const name of ["src", "src/sub", "src/sub/x"]) scratch.directory(name);
      scratch.write("src/sub/f", "1");
      scratch.link("l", "src");
      const copy = (from: string, to: string) => () => files.copy(scratch.path(from), scratch.path(to), true, caller);
      const refusal = "invalidRequest: fs/copy cannot copy a directory to itself or one of its descendants";
      for (const name of ["src", "src/new", "src/sub", "l", "l/no/new"]) await refuses(refusal, copy("src", name));
      await copy("src/sub", "src")(); // upwards
      assert.deepEqual(treeOf(scratch.root), [
        "l@src",
        "src/",
        "src/f=1",
        "src/sub/",
        "src/sub/f=1",
        "src/sub/x/",
        "src/x/",
      ]);
    },
  },
];

/** All of them; each has a directory of its own. */
export const FILE_CASES: readonly FileCase[] = [
  ...READING,
  ...BLOCKS,
  ...WRITING,
  ...DIRECTORIES,
  ...WALKING,
  ...REMOVING,
  ...COPYING,
];
