import assert from "node:assert/strict";
import { findBubblewrap } from "../../lib/sandbox/find_bubblewrap.ts";
import { backEndMissing } from "./support/back_ends.ts";
import { SELF } from "./support/user.ts";

const isInstalled = await backEndMissing("bubblewrap", SELF) === undefined;

const HELP = 'if [ "$1" = --help ]; then echo "--bind-fd FD DEST"; echo "--ro-bind-fd FD DEST"; fi\n';

/** A directory with a program that says that it is bubblewrap of this version. */
function fake(version: string, mode = 0o755): string {
  const directory = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "find-bubblewrap-" }));
  Deno.writeTextFileSync(`${directory}/bwrap`, `#!/bin/sh\necho bubblewrap ${version}\n${HELP}`);
  Deno.chmodSync(`${directory}/bwrap`, mode);
  return directory;
}

Deno.test({
  name: "findBubblewrap prefers the system's own",
  ignore: !isInstalled,
  fn: async () => {
    const directory = fake("99.0.0");
    try {
      const found = await findBubblewrap({ searchPath: directory, cwd: "/" });
      assert.ok(typeof found !== "string");
      assert.equal(found.isTheSystems, true);
      assert.match(found.path, /\/bwrap$/);
    } finally {
      Deno.removeSync(directory, { recursive: true });
    }
  },
});

Deno.test({
  name: "findBubblewrap takes another one from PATH, unless it lies where others write or we work, or is too old",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const cases = [
      { version: "1.2.3", expected: "1.2.3" },
      { version: "0.4.1", expected: "version 0.4.1 is too old, 0.5.0 or newer is needed" },
      { version: "1.2.3", mode: 0o775, expected: "others may write to it" },
      { version: "1.2.3", cwd: undefined, expected: "1.2.3" },
      { version: "1.2.3", isOurs: true, expected: "it lies below the server's working directory" },
    ];
    for (const { version, mode, isOurs, expected, ...more } of cases) {
      const directory = fake(version, mode);
      try {
        const cwd = isOurs === true ? directory : "cwd" in more ? more.cwd : "/";
        const found = await findBubblewrap({ searchPath: `relative::/nowhere:${directory}`, cwd, places: [] });
        assert.equal(typeof found === "string" ? found : found.version.text, expected);
        if (typeof found !== "string") assert.equal(found.isTheSystems, false);
      } finally {
        Deno.removeSync(directory, { recursive: true });
      }
    }
    assert.equal(await findBubblewrap({ searchPath: undefined, cwd: "/", places: [] }), "it is not installed");
  },
});
