/** What walks through trees find. */

import assert from "node:assert/strict";
import type { WalkOptions } from "../../../lib/fs/operations.ts";
import { PathUri } from "../../../lib/path_uri.ts";
import type { Scratch } from "../scratch.ts";
import { caller, ELOOP, ENOENT, ENOTDIR, failure, type FileCase, refuses, type Scene } from "./case.ts";

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

export const WALKING: readonly FileCase[] = [
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
    name: "walk names what it finds as its root was named",
    async run({ files, scratch }) {
      plant(scratch);
      const plain = PathUri.fromNative(scratch.path("w"));
      const odd = `${plain.slice(0, -1)}%77`;
      const found = async (uri: string) =>
        (await files.walk(scratch.path("w"), { ...EVERYTHING, maxEntries: 2, uri }, caller)).entries.map(({ path }) =>
          path
        );
      assert.deepEqual(await found(odd), [`${odd}/.dotfile`, `${odd}/.hid`]);
      assert.deepEqual(await found(`${plain}/`), [`${plain}/.dotfile`, `${plain}/.hid`]);
      assert.deepEqual(await found(`${plain}//`), [`${plain}//.dotfile`, `${plain}//.hid`]);
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
