import assert from "node:assert/strict";
import { download } from "../../../lib/cli/copy/download.ts";
import { downloadByWalking } from "../../../lib/cli/copy/download_walk.ts";
import { keyOf, partialName } from "../../../lib/cli/copy/partial_file.ts";
import type { FileInfo, Files } from "../../../lib/client/files.ts";
import { FakeOutput } from "../fake_cli.ts";
import { copyingFrom } from "./fake_far_side.ts";
import { archiveOf, type MadeUpEntry } from "./made_up_archive.ts";

const onUnix = { ignore: Deno.build.os === "windows" };
const MODIFIED = new Date("2020-01-01");

/** A directory to copy into, and one outside of it that nothing may be written to. */
async function places() {
  const home = await Deno.makeTempDir({ prefix: "exec-server-hostile-" });
  for (const name of ["target", "outside"]) await Deno.mkdir(`${home}/${name}`);
  await Deno.writeTextFile(`${home}/outside/file`, "mine");
  return {
    target: `${home}/target`,
    untouched: async () => {
      assert.deepEqual([...Deno.readDirSync(`${home}/outside`)].map(({ name }) => name), ["file"]);
      assert.equal(await Deno.readTextFile(`${home}/outside/file`), "mine");
    },
    names: () => [...Deno.readDirSync(`${home}/target`)].map(({ name }) => name).sort(),
    [Symbol.asyncDispose]: () => Deno.remove(home, { recursive: true }),
  };
}

function info(kind: "file" | "directory", size = 0): FileInfo {
  return {
    isFile: kind === "file",
    isDirectory: kind === "directory",
    isSymlink: false,
    size,
    mtime: MODIFIED,
    birthtime: null,
  };
}

function stream(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return ReadableStream.from([bytes]);
}

/** Fetches what a server says its directory holds into one that exists. */
async function fetchTree(target: string, entries: readonly MadeUpEntry[]): Promise<void> {
  const files: Partial<Files> = {
    stat: () => Promise.resolve(info("directory")),
    open: () => Promise.resolve(stream(archiveOf(entries))) as ReturnType<Files["open"]>,
    remove: () => Promise.resolve(),
  };
  const job = copyingFrom(files, () => ({}));
  await download(job, "/src/.", { side: "local", path: target }, { many: false, stdout: new FakeOutput() });
}

Deno.test("an archive cannot be led out of the tree by a link of an earlier copy", onUnix, async () => {
  const root: MadeUpEntry = { name: "./", type: "5" };
  const attacks: MadeUpEntry[][] = [
    [root, { name: "./l/file", content: "evil" }],
    [root, { name: "./m", type: "2", linkName: "l" }, { name: "./d/", type: "5" }, {
      name: "./l/new",
      content: "evil",
    }],
    [root, { name: "./m", type: "2", linkName: "l" }, { name: "./m/file", content: "evil" }],
    [root, { name: "./l/", type: "5" }, { name: "./l/file", content: "evil" }],
    [root, { name: "./h", type: "1", linkName: "./l/file" }],
  ];
  for (const entries of attacks) {
    await using at = await places();
    await fetchTree(at.target, [root, { name: "./l", type: "2", linkName: "../outside" }]);
    assert.equal(await Deno.readLink(`${at.target}/l`), "../outside", "links as such are kept");
    await fetchTree(at.target, entries).catch((error) => assert.match(error.name, /^(Tar|Copy)Error$/));
    await at.untouched();
    assert.ok(at.names().every((name) => /^[dlmh]$/.test(name)), "nothing unfinished is left");
    assert.equal((await Deno.lstat(`${at.target}/../outside/file`)).nlink, 1, "nor has it another name now");
  }
});

Deno.test("a copy file by file writes through no link of the tree", onUnix, async () => {
  await using at = await places();
  await Deno.symlink("../outside", `${at.target}/a`);
  await Deno.symlink("../outside/file", `${at.target}/b`);
  await Deno.symlink("../outside/new", `${at.target}/c`);
  const kinds: Record<string, FileInfo> = {
    a: info("directory"),
    b: info("file", 4),
    c: info("file", 4),
    file: info("file", 4),
  };
  const files: Partial<Files> = {
    readDir: (path) =>
      Promise.resolve(
        (String(path).endsWith("/a") ? ["file"] : ["a", "b", "c"]).map((name) => ({
          name,
          isDirectory: kinds[name]!.isDirectory,
          isFile: kinds[name]!.isFile,
        })),
      ),
    lstat: (path) => Promise.resolve(kinds[String(path).split("/").at(-1)!]!),
    stat: (path) => Promise.resolve(kinds[String(path).split("/").at(-1)!]!),
    open: () => Promise.resolve(stream(new TextEncoder().encode("evil"))) as ReturnType<Files["open"]>,
  };
  const job = copyingFrom(files);
  await downloadByWalking(job, "file:///C:/src", { path: at.target, exists: true });
  await at.untouched();
  for (const name of ["a", "b", "c"]) {
    assert.match(
      job.report.sentences().join("\n"),
      new RegExp(`src.${name}: .*target/${name} is in the way: it is a link`),
    );
  }
});

/** Fetches one file that the server calls `file`. */
async function fetchFile(target: string, path: string): Promise<void> {
  const files: Partial<Files> = {
    stat: () => Promise.resolve(info("file", 8)),
    open: () => Promise.resolve(stream(new TextEncoder().encode("fetched!"))) as ReturnType<Files["open"]>,
  };
  await download(copyingFrom(files, () => ({})), path, { side: "local", path: target }, {
    many: false,
    stdout: new FakeOutput(),
  });
}

Deno.test("a file goes through a link only if the user has named it", onUnix, async () => {
  await using at = await places();
  await Deno.symlink("../outside/file", `${at.target}/file`);
  await assert.rejects(fetchFile(at.target, "/src/file"), {
    name: "CopyError",
    message: `${at.target}/file is a link; remove it, or name it as the target if what it leads to is meant`,
  });
  await at.untouched();
  await fetchFile(`${at.target}/file`, "/src/file");
  assert.equal(await Deno.readTextFile(`${at.target}/../outside/file`), "fetched!");
});

Deno.test("what waits under the name of an unfinished file is not written to", onUnix, async () => {
  const name = partialName("file", await keyOf("test", "file:///src/file", 8, MODIFIED.getTime()));
  for (const plant of [Deno.symlink, Deno.link]) {
    await using at = await places();
    await plant(`${at.target}/../outside/file`, `${at.target}/${name}`);
    await fetchFile(`${at.target}/file`, "/src/file");
    await at.untouched();
    assert.equal(await Deno.readTextFile(`${at.target}/file`), "fetched!");
    assert.deepEqual(at.names(), ["file"]);
  }
});

Deno.test("a name that leads elsewhere is given to no copy", onUnix, async () => {
  await using at = await places();
  await assert.rejects(fetchFile(at.target, "file:///src/..%2F..%2Foutside%2Fnew"), {
    message: /has no name to be given in it/,
  });
  await at.untouched();
});
