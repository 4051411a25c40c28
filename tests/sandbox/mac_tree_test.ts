import assert from "node:assert/strict";
import { fromText } from "../../lib/sandbox/byte_path.ts";
import { expandPolicy } from "../../lib/sandbox/expand_policy.ts";
import type { FileTree } from "../../lib/sandbox/file_tree.ts";
import { macTree } from "../../lib/sandbox/mac_tree.ts";
import { FakeTree } from "./fake_tree.ts";
import { restricted } from "./policy_notation.ts";

/** A volume on which case does not count; all names in it are small. */
function caseless(tree: FakeTree): FileTree {
  const small = (path: string) => path.toLowerCase();
  return {
    kindOf: (path) => tree.kindOf(small(path)),
    spelling: small,
    readLink: (path) => tree.readLink(small(path)),
    list: (path) => tree.list(small(path)),
    readStart: (path, maxBytes) => tree.readStart(small(path), maxBytes),
  };
}

Deno.test("rules name files as they are really spelled, so that two spellings are one file", () => {
  const tree = caseless(new FakeTree({ t: { ws: { secret: { key: "" }, ".git": {} } } }));
  const fileSystem = restricted("root:r /T/WS:w ws/Secret:d WS/SECRET:w");
  const { rules } = expandPolicy({ fileSystem, network: "restricted" }, tree);
  assert.deepEqual(rules.map(({ path, access }) => `${path} ${access}`), [
    ...["/ read", "/t/ws write", "/t/ws/.agents read", "/t/ws/.aws read", "/t/ws/.codex read", "/t/ws/.git read"],
    "/t/ws/secret deny",
  ]);
});

Deno.test("macTree spells a path as the system does, and as it was asked where that says nothing", () => {
  const root = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    Deno.mkdirSync(`${root}/\u00fc`);
    const path = fromText(`${root}/\u00fc`);
    assert.equal(macTree.spelling!(path), path);
    assert.equal(macTree.spelling!(fromText(`${root}/missing`)), fromText(`${root}/missing`));
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
