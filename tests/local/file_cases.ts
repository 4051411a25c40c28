import assert from "node:assert/strict";
import type { FileOptions } from "../../lib/client/files.ts";
import { PathUri } from "../../lib/path_uri.ts";
import { type Case, type Failure, failureOf } from "./case.ts";

type Sandbox = NonNullable<FileOptions["sandbox"]>;
const MIB = 1024 * 1024;

export const FILE_CASES: readonly Case[] = [
  {
    name: "files are written and read, whole and as text",
    async run({ environment: { files }, directory }) {
      const path = `${directory}/ä %41 b.txt`;
      await files.writeTextFile(path, "\ufeffhé\n");
      assert.deepEqual(await files.readFile(path), new TextEncoder().encode("\ufeffhé\n"));
      assert.equal(await files.readTextFile(path), "\ufeffhé\n");
      await files.writeFile(path, new Uint8Array());
      assert.equal((await files.readFile(path)).length, 0);
      return await names(directory);
    },
  },
  {
    name: "a file whose name is not UTF-8 can be named by its bytes, as a program tells them",
    async run({ environment, directory }) {
      const { files } = environment;
      await environment.run({ argv: ["sh", "-c", "printf content > \"$(printf 'a\\377b')\""], cwd: directory });
      assert.deepEqual((await files.readDir(directory)).map(({ name }) => name), ["a\ufffdb"]);
      const { stdout } = await environment.run({ argv: ["find", directory, "-type", "f", "-print0"] });
      const path = PathUri.fromNative(stdout.subarray(0, stdout.indexOf(0)), "linux");
      assert.ok(path.endsWith("/a%FFb"));
      assert.equal(await files.readTextFile(path), "content");
      assert.equal((await files.stat(new URL(path))).size, 7);
      await files.copy(path, `${path}%FE`);
      assert.equal(await files.readTextFile(`${path}%FE`), "content");
      assert.equal(await files.realPath(path), path.replace(/.*(?=\/a%FFb)/, await files.realPath(directory)));
      return [await failureOf(() => files.readFile(`${directory}/a\ufffdb`))];
    },
  },
  {
    name: "large files and streams go by blocks, both ways",
    async run({ environment: { files }, directory }) {
      const content = Uint8Array.from({ length: 5 * MIB + 3 }, (_, at) => at * 7 >> 4);
      await files.writeFile(`${directory}/whole`, content);
      await files.writeFile(`${directory}/streamed`, new Blob([content]).stream());
      const lengths: number[] = [];
      let at = MIB - 1;
      for await (const block of await files.open(`${directory}/streamed`, { offset: at })) {
        assert.deepEqual(block, content.subarray(at, at += block.length));
        assert.equal(block.buffer.byteLength, block.length, "nothing else is in its buffer");
        lengths.push(block.length);
      }
      assert.equal(at, content.length);
      const whole = await files.readFile(`${directory}/whole`);
      assert.deepEqual(whole, content);
      const small = await files.readFile(`${directory}/whole`);
      assert.equal(small.buffer.byteLength, small.length);
      return lengths;
    },
  },
  {
    name: "a writer that is aborted leaves what was written; one that is closed, everything",
    async run({ environment: { files }, directory }) {
      const aborted = (await files.create(`${directory}/aborted`)).getWriter();
      await aborted.write(new Uint8Array(MIB + 1));
      await aborted.abort();
      const closed = (await files.create(`${directory}/closed`)).getWriter();
      for (let count = 0; count < 100; count++) await closed.write(new Uint8Array(1000).fill(count));
      await closed.close();
      const sizes = [await files.stat(`${directory}/aborted`), await files.stat(`${directory}/closed`)];
      assert.deepEqual(sizes.map(({ size }) => size), [MIB, 100_000]);
      return sizes.map(({ mtime, ...others }) => [others, mtime instanceof Date]);
    },
  },
  {
    name: "directories are made, listed, walked, copied and removed",
    async run({ environment: { files }, directory }) {
      await files.mkdir(`${directory}/a/b/c`, { recursive: true });
      await files.writeTextFile(`${directory}/a/b/file`, "x");
      await files.copy(`${directory}/a`, `${directory}/copy`, { recursive: true });
      await files.remove(`${directory}/a`, { recursive: true });
      const { entries, errors, truncated } = await files.walk(directory);
      assert.deepEqual([errors.length, truncated], [0, false]);
      const found = entries.map(({ path, kind }) => [path.slice(path.indexOf("/copy")), kind]);
      assert.deepEqual(found, [
        ["/copy", "directory"],
        ["/copy/b", "directory"],
        ["/copy/b/c", "directory"],
        ["/copy/b/file", "file"],
      ]);
      assert.equal((await files.readDir(`${directory}/copy/b`)).length, 2);
      return found;
    },
  },
  {
    name: "links are seen, followed, and not followed",
    async run({ environment: { files }, directory }) {
      await files.writeTextFile(`${directory}/file`, "abc");
      for (const target of ["file", "nothing", "circle"]) {
        await Deno.symlink(target, `${directory}/${target === "circle" ? "circle" : `to-${target}`}`);
      }
      const seen = [];
      for (const name of ["file", "to-file", "to-nothing", "circle", "absent"]) {
        const path = `${directory}/${name}`;
        seen.push([
          name,
          await failureOf(() => files.stat(path)),
          await files.lstat(path).then(({ isSymlink, isFile }) => [isSymlink, isFile], () => "absent"),
          await failureOf(() => files.readFile(path, { followSymlinks: false })),
        ]);
      }
      const links = seen.map(([, , lstat]) => lstat);
      assert.deepEqual(links, [[false, true], [true, false], [true, false], [true, false], "absent"]);
      const real = await files.realPath(`${directory}/to-file`);
      assert.equal(await files.readTextFile(real), "abc");
      return seen;
    },
  },
  {
    name: "failures have the same kinds, names and words",
    async run({ environment: { files }, directory }) {
      await files.writeTextFile(`${directory}/file`, "");
      await files.mkdir(`${directory}/full/inside`, { recursive: true });
      const failures: Failure[] = [];
      for (
        const act of [
          () => files.readFile(`${directory}/absent`),
          () => files.readFile(directory),
          () => files.open(`${directory}/absent`),
          () => files.open("/dev/null"),
          () => files.writeTextFile(`${directory}/no/parent`, ""),
          () => files.writeTextFile(directory, ""),
          () => files.create(directory),
          () => files.mkdir(`${directory}/file`),
          () => files.mkdir(`${directory}/no/parent`),
          () => files.readDir(`${directory}/file`),
          () => files.remove(`${directory}/full`),
          () => files.remove(`${directory}/absent`),
          () => files.copy(`${directory}/full`, `${directory}/copy`),
          () => files.copy(`${directory}/full`, `${directory}/full/inside/x`, { recursive: true }),
          () => files.realPath(`${directory}/file/x`),
          () => files.stat(`${directory}/${"n".repeat(300)}`),
          () => files.walk(directory, { maxDepth: 65 }),
          () => files.stat("file:///C:/x"),
          () => files.stat("a\0b"),
          () => files.readFile(`${directory}/file`, { signal: AbortSignal.abort(new Error("enough")) }),
          () => files.open(`${directory}/file`, { offset: -1 }),
        ]
      ) {
        const failure = await failureOf(act);
        assert.notEqual(failure, null, String(act));
        failures.push({ ...failure!, message: String(failure!.message).replaceAll(directory, "") });
      }
      assert.deepEqual(failures.slice(0, 2).map((failure) => [failure?.kind, failure?.code]), [
        ["NotFound", "ENOENT"],
        ["InvalidInput", undefined],
      ]);
      // What is missing is no failure when it is to be forced.
      await files.remove(`${directory}/absent`, { force: true });
      return failures;
    },
  },
  {
    name: "a sandbox that restricts nothing changes nothing; in another nothing can be done that it does not grant",
    async run({ environment: { files }, directory }) {
      const path = `${directory}/file`;
      await files.writeTextFile(path, "x", { sandbox: sandbox({ type: "disabled" }) });
      const restricted = sandbox({
        type: "managed",
        file_system: { type: "restricted", entries: [], glob_scan_max_depth: null },
        network: "enabled",
      });
      const options = { sandbox: restricted };
      const failures = [
        await failureOf(() => files.readFile(path, options)),
        await failureOf(() => files.writeTextFile(path, "y", options)),
        await failureOf(() => files.open(path, options)),
        await failureOf(() => files.copy(path, `${path}2`, options)),
        await failureOf(() => files.walk(directory, options)),
        await failureOf(() => files.writeFile(path, new Uint8Array(5 * MIB), options)),
      ];
      for (const failure of failures) assert.match(String(failure?.message), /No such file|Read-only|sandbox/);
      await assert.rejects(Deno.lstat(`${path}2`), Deno.errors.NotFound);
      assert.equal(await files.readTextFile(path), "x");
      return failures;
    },
  },
  {
    name: "files are held to their sandbox, whole and by blocks; or nothing is done with them",
    async run({ environment: { files }, directory }) {
      const inside = `${directory}/in`, outside = `${directory}/out`;
      for (const path of [inside, outside]) await Deno.mkdir(path);
      await Deno.writeTextFile(`${outside}/secret`, "s");
      await Deno.symlink("../out/secret", `${inside}/link`);
      const entry = {
        path: { type: "path", path: PathUri.parse(PathUri.fromNative(inside)) },
        access: "write",
        missing_path_behavior: null,
      } as const;
      const restricted = sandbox({
        type: "managed",
        file_system: { type: "restricted", entries: [entry], glob_scan_max_depth: null },
        network: "restricted",
      });
      const options = { sandbox: restricted };
      const failure = await failureOf(() => files.writeTextFile(`${inside}/file`, "text", options));
      if (failure !== null) {
        assert.match(String(failure.message), /^fs sandbox helper failed with status /);
        return [failure];
      }
      assert.equal(await files.readTextFile(`${inside}/file`, options), "text");
      const content = Uint8Array.from({ length: 3 * MIB + 1 }, (_, at) => at * 7 >> 4);
      await files.writeFile(`${inside}/streamed`, new Blob([content]).stream(), options);
      const blocks = await Array.fromAsync(await files.open(`${inside}/streamed`, options));
      assert.deepEqual(new Uint8Array(await new Blob(blocks as Uint8Array<ArrayBuffer>[]).arrayBuffer()), content);
      await files.copy(`${inside}/file`, `${inside}/copy`, options);
      await files.remove(`${inside}/file`, options);
      const failures = [
        await failureOf(() => files.readFile(`${outside}/secret`, options)),
        await failureOf(() => files.readFile(`${inside}/link`, options)),
        await failureOf(() => files.open(`${outside}/secret`, options)),
        await failureOf(() => files.copy(`${outside}/secret`, `${inside}/stolen`, options)),
        await failureOf(() => files.writeTextFile(`${outside}/secret`, "x", options)),
        await failureOf(() => files.writeTextFile(`${inside}/.git/config`, "x", options)),
        await failureOf(() => files.remove(`${outside}/secret`, options)),
        await failureOf(() => files.mkdir(`${outside}/made`, options)),
      ];
      for (const failure of failures) assert.match(String(failure?.message), /No such file|Read-only/);
      assert.deepEqual([await names(inside), await names(outside)], [["copy", "link", "streamed"], ["secret"]]);
      assert.equal(await Deno.readTextFile(`${outside}/secret`), "s");
      return failures;
    },
  },
];

function sandbox(permissions: Sandbox["permissions"]): Sandbox {
  return {
    permissions,
    sandboxOverride: "noOverride",
    cwd: null,
    policyContext: null,
    workspaceRoots: [],
    userHomeDir: null,
    temporaryDirectories: null,
    windowsSandboxLevel: "disabled",
    windowsSandboxProxySettingsMode: null,
    useLegacyLandlock: false,
  };
}

async function names(directory: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(directory), ({ name }) => name)).sort();
}
