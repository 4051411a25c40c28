import assert from "node:assert/strict";
import { parseJson } from "../../lib/json.ts";
import { PathUri } from "../../lib/path_uri.ts";
import {
  confinesContents,
  confinesReading,
  confinesWriting,
  discoveryConfinement,
  fileConfinement,
  type FileSandbox,
  nativePaths,
  requireCwd,
} from "../../lib/protocol/fs_sandbox.ts";
import { sandboxContext } from "../../lib/protocol/sandbox.ts";
import { pathEntry, restricted, specialEntry } from "../support/sandbox_documents.ts";

const FOREIGN = "file://h/x";
const INVALID = `'${FOREIGN}' is invalid on 'linux'`;
const IGNORE = Deno.build.os !== "linux";

function decoded(json: unknown): FileSandbox {
  return sandboxContext.decode(parseJson(JSON.stringify(json)));
}

const readAll = specialEntry("root", "read"), writeAll = specialEntry("root", "write");
const roots = (subpath: string, access: string) => specialEntry("project_roots", access, { subpath });

Deno.test("reading is confined unless everything may be read", () => {
  const confined = (...entries: unknown[]) => confinesReading(decoded(restricted(entries)));
  assert.equal(confinesReading(null), false);
  assert.equal(confinesReading(decoded({ permissions: { type: "disabled" }, windowsSandboxLevel: "disabled" })), false);
  assert.equal(confined(), true);
  assert.equal(confined(readAll), false);
  assert.equal(confined(readAll, pathEntry("file:///a", "write")), false);
  assert.equal(confined(pathEntry("file:///", "read")), true);
  assert.equal(confined(specialEntry("root", "deny")), true);
  assert.equal(confined(readAll, pathEntry("file:///a", "none")), true);
  assert.equal(confined(readAll, roots("a", "read")), false);
  for (const subpath of ["../a", "a/..", "./a", "/a", "."]) {
    assert.equal(confined(readAll, roots(subpath, "read")), true, subpath);
    assert.equal(confined(readAll, roots(subpath, "write")), false, subpath);
  }
  assert.equal(confined(readAll, roots("..a/.b", "read")), false);
});

Deno.test("writing is confined unless everything may be written", () => {
  const confined = (...entries: unknown[]) => confinesWriting(decoded(restricted(entries)));
  assert.equal(confinesWriting(null), false);
  assert.equal(confined(), true);
  assert.equal(confined(readAll), true);
  assert.equal(confined(writeAll), false);
  assert.equal(confined(writeAll, readAll, pathEntry("file:///a", "write")), false);
  assert.equal(confined(writeAll, pathEntry("file:///a", "read")), true);
  assert.equal(confined(writeAll, pathEntry("file:///a", "deny")), true);
});

Deno.test("where there are secrets to be kept the contents of files are confined to every sandbox that restricts files", () => {
  const confined = (...entries: unknown[]) =>
    [false, true].map((keepsSecrets) => confinesContents(decoded(restricted(entries)), keepsSecrets));
  assert.deepEqual(confined(readAll), [false, true]);
  assert.deepEqual(confined(readAll, pathEntry("file:///a", "write")), [false, true]);
  assert.deepEqual(confined(readAll, pathEntry("file:///a", "deny")), [true, true]);
  assert.deepEqual(confined(writeAll), [false, false]);
  assert.equal(confinesContents(null, true), false);
});

Deno.test("what is wrong with a document is told in the order of the reference", { ignore: IGNORE }, () => {
  const uri = PathUri.parse(FOREIGN);
  const failing = (act: () => unknown, kind: string, message: string) =>
    assert.throws(act, { name: "ExecError", kind, message });
  const needsCwd = decoded(restricted([specialEntry("project_roots", "write"), pathEntry(FOREIGN, "read")]));
  const dynamic = "file system sandbox context with dynamic permissions requires cwd";
  failing(() => requireCwd(needsCwd), "invalidParams", dynamic);
  const badEntry = decoded(restricted([pathEntry(FOREIGN, "read")], { cwd: FOREIGN }));
  requireCwd(badEntry);
  failing(() => nativePaths(badEntry, uri), "invalidRequest", `invalid sandbox permission path URI: ${INVALID}`);
  failing(() => nativePaths(null, uri), "invalidRequest", INVALID);

  const mxc = { windowsSandboxLevel: "mxc", useLegacyLandlock: true };
  const wrong: [Record<string, unknown>, string][] = [
    [{ cwd: FOREIGN, workspaceRoots: [FOREIGN], ...mxc }, INVALID],
    [{ workspaceRoots: [FOREIGN], ...mxc }, `invalid sandbox workspace root: ${INVALID}`],
    [mxc, "failed to prepare fs sandbox: failed to prepare MXC sandbox: native MXC is unavailable on this executor"],
  ];
  for (const [context, message] of wrong) {
    const sandbox = decoded(restricted([pathEntry("file:///a", "read")], context));
    assert.equal(nativePaths(sandbox, PathUri.parse("file:///a")).length, 1, "the context is not looked at yet");
    failing(() => fileConfinement(sandbox), "invalidRequest", message);
    failing(() => discoveryConfinement(sandbox), "internal", message);
  }
  const legacy = decoded(restricted([pathEntry("file:///a", "read")], { useLegacyLandlock: true }));
  assert.equal(fileConfinement(legacy).useLegacyLandlock, true);
  const bad = decoded(restricted([pathEntry(FOREIGN, "read")]));
  failing(() => discoveryConfinement(bad), "internal", `invalid sandbox permission path: ${INVALID}`);
});
