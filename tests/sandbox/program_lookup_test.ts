import assert from "node:assert/strict";
import { EACCES, ELOOP, ENOENT, ENOEXEC, ENOTDIR } from "../../lib/linux/errno.ts";
import { fromText } from "../../lib/sandbox/byte_path.ts";
import type { Mount } from "../../lib/sandbox/mount_plan.ts";
import { lookUpProgram } from "../../lib/sandbox/program_lookup.ts";
import { realTree } from "../../lib/sandbox/real_tree.ts";

const ignore = Deno.build.os !== "linux";

class Programs implements Disposable {
  readonly root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "lookup-" }));

  script(name: string, text: string, mode = 0o755): string {
    Deno.mkdirSync(`${this.root}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${this.root}/${name}`, text);
    Deno.chmodSync(`${this.root}/${name}`, mode);
    return `${this.root}/${name}`;
  }

  /** In a view of everything, with more on top. */
  find(file: string, more: { path?: string; mounts?: readonly Mount[]; root?: Mount["kind"] } = {}): number {
    const { path = "/bin", mounts = [], root = "readOnlyBind" } = more;
    const program = { file: fromText(file), argv: [file], env: ["A=1", `PATH=${path}`], cwd: this.root };
    return lookUpProgram(program, [{ kind: root, path: "/" } as Mount, ...mounts], realTree);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

Deno.test({
  name: "lookUpProgram finds what can be run",
  ignore,
  fn: () => {
    using programs = new Programs();
    const script = programs.script("a/script", "#!/bin/sh\n");
    Deno.symlinkSync("a/../a/script", `${programs.root}/link`);
    for (const file of ["/bin/sh", "sh", script, "a/script", "./a/script", `${programs.root}/link`]) {
      assert.equal(programs.find(file), 0, file);
    }
    assert.equal(programs.find("script", { path: `/nowhere:/etc/passwd:a` }), 0);
    assert.equal(programs.find("link", { path: "" }), 0);
  },
});

Deno.test({
  name: "lookUpProgram tells how a start would end",
  ignore,
  fn: () => {
    using programs = new Programs();
    const plain = programs.script("plain/name", "#!/bin/sh\n", 0o644);
    programs.script("text/name", "hello");
    const looping = programs.script("looping", "");
    Deno.writeTextFileSync(looping, `#!${looping}\n`);
    assert.equal(programs.find("/no/such"), ENOENT);
    assert.equal(programs.find("no-such"), ENOENT);
    assert.equal(programs.find(`${plain}/below`), ENOTDIR);
    assert.equal(programs.find(plain), EACCES);
    assert.equal(programs.find("/bin"), EACCES);
    assert.equal(programs.find(programs.script("lost", "#!/no/such\n")), ENOENT);
    assert.equal(programs.find(looping), ELOOP);
    assert.equal(programs.find("text/name"), ENOEXEC);
    assert.equal(programs.find("name", { path: "plain:/bin" }), EACCES);
    assert.equal(programs.find("name", { path: "plain:text:/bin" }), ENOEXEC);
  },
});

Deno.test({
  name: "lookUpProgram looks at the view and not at the machine",
  ignore,
  fn: () => {
    using programs = new Programs();
    const script = programs.script("a/script", "#!/bin/sh\n");
    const directory = `${programs.root}/a`;
    const cover = { isMissing: false } as const;
    const find = (...mounts: Mount[]) => programs.find(script, { mounts });
    assert.equal(find({ kind: "emptyDirectory", path: directory, mode: 0, ...cover }), EACCES);
    assert.equal(find({ kind: "emptyDirectory", path: directory, mode: 0o111, ...cover }), ENOENT);
    assert.equal(find({ kind: "emptyFile", path: script, mode: 0, ...cover }), EACCES);
    const bare = (...mounts: Mount[]) => programs.find(script, { root: "emptyRoot", mounts });
    const bind = (path: string): Mount => ({ kind: "readOnlyBind", path });
    assert.equal(bare(), ENOENT);
    assert.equal(bare(bind(directory)), ENOENT); // there is no shell
    const shell: Mount[] = [bind("/usr"), bind("/etc"), ...links()];
    assert.equal(bare(bind(directory), ...shell), 0);
    assert.equal(bare(bind(directory), ...shell, { kind: "link", path: `/link`, target: "a" }), 0);
    // What nobody can know from outside is tried.
    assert.equal(programs.find("/proc/self/exe", { mounts: [{ kind: "processes", path: "/proc" }] }), 0);
  },
});

/** Those that lead from the root to the system's programs, where it has them there. */
function links(): Mount[] {
  return ["/bin", "/lib", "/lib64"].flatMap((path): Mount[] => {
    try {
      return Deno.lstatSync(path).isSymlink
        ? [{ kind: "link", path, target: Deno.readLinkSync(path) }]
        : [{ kind: "readOnlyBind", path }];
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    }
  });
}
