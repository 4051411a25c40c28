import assert from "node:assert/strict";
import { HiddenFiles } from "../../lib/sandbox/hidden_files.ts";
import { ServerDirectory } from "../../lib/sandbox/server_directory.ts";

Deno.test({
  name: "HiddenFiles are what is there now, once and by its real path",
  ignore: Deno.build.os !== "linux",
  fn: () => {
    const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "hidden-" }));
    try {
      using shared = new ServerDirectory(`${root}/shared/mount-points`, Deno.uid()!);
      const secrets = ["token", "link", "later", "closed"].map((name) => `${root}/${name}`);
      const hidden = new HiddenFiles(shared, [`${root}/nowhere/other`, `${root}/other`], secrets);
      // They are made, or somebody inside could make them.
      const made = ["shared", "other"].map((name) => ({ path: `${root}/${name}`, found: "directory" }));
      assert.deepEqual(hidden.now(), made);
      assert.equal(Deno.statSync(`${root}/other`).mode! & 0o777, 0o700);
      Deno.writeTextFileSync(`${root}/token`, "");
      Deno.symlinkSync("token", `${root}/link`);
      assert.deepEqual(hidden.secrets(), [{ path: `${root}/token`, found: "file" }]);
      const { unreadable, empty } = shared.covers();
      assert.deepEqual([unreadable, empty].map((path) => Deno.statSync(path).size), [0, 0]);
      assert.deepEqual(hidden.now(), [...made, { path: `${root}/token`, found: "file" }]);
      Deno.removeSync(`${root}/link`);
      Deno.mkdirSync(`${root}/later`);
      assert.deepEqual(hidden.secrets().map(({ path }) => path), [`${root}/token`, `${root}/later`]);
    } finally {
      Deno.removeSync(root, { recursive: true });
    }
  },
});

Deno.test({
  name: "HiddenFiles hide nothing that another user's link leads to in the place of what servers share",
  ignore: Deno.build.os !== "linux",
  fn: () => {
    const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "hidden-" }));
    try {
      for (const name of ["library", "above"]) Deno.mkdirSync(`${root}/${name}`);
      for (const name of ["shared", "other"]) Deno.symlinkSync("library", `${root}/${name}`);
      Deno.symlinkSync("above", `${root}/way`);
      using mine = new ServerDirectory(`${root}/way/mine/mount-points`, Deno.uid()!);
      const hidden = new HiddenFiles(mine, [`${root}/other`], []);
      assert.deepEqual(hidden.now(), [{ path: `${root}/above/mine`, found: "directory" }]);
      using shared = new ServerDirectory(`${root}/shared/mount-points`, Deno.uid()!);
      assert.throws(() => new HiddenFiles(shared, [], []).now(), /^ExecError: .*cannot be kept in .*\/shared: /);
    } finally {
      Deno.removeSync(root, { recursive: true });
    }
  },
});

Deno.test({
  name: "ServerDirectory makes its files again when they have been removed, and refuses what is not its own",
  ignore: Deno.build.os !== "linux",
  fn: () => {
    const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "hidden-" }));
    try {
      using shared = new ServerDirectory(`${root}/shared/mount-points`, Deno.uid()!);
      shared.covers();
      Deno.removeSync(`${root}/shared`, { recursive: true });
      assert.throws(() => shared.covers(), /^ExecError: sandbox unavailable: /);
      const { empty } = shared.covers();
      Deno.writeTextFileSync(empty, "not empty");
      assert.throws(() => shared.covers(), /is not the empty file that we made$/);
      Deno.chmodSync(`${root}/shared/covers`, 0o755);
      assert.throws(() => shared.covers(), /others may use it$/);
    } finally {
      Deno.removeSync(root, { recursive: true });
    }
  },
});
