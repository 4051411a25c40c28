import assert from "node:assert/strict";
import { sandboxDocument } from "../../lib/client/mod.ts";
import { sandboxContext } from "../../lib/protocol/sandbox.ts";

/** The example of docs/sandbox.md. */
async function documented(): Promise<Record<string, unknown>> {
  const page = await Deno.readTextFile(new URL("../../docs/sandbox.md", import.meta.url));
  return JSON.parse(/```json\n(.*?)```/s.exec(page)![1]!);
}

Deno.test("a sandbox is the document of the page, with the protocol's defaults for what is left out", async () => {
  const document = await documented();
  assert.deepEqual(JSON.parse(JSON.stringify(sandboxContext.encode(sandboxDocument(document)))), {
    ...document,
    permissions: {
      type: "managed",
      network: "restricted",
      file_system: {
        type: "restricted",
        entries: (document as { permissions: { file_system: { entries: object[] } } }).permissions.file_system.entries
          .map((entry) => ({ ...entry, missing_path_behavior: null })),
        glob_scan_max_depth: null,
      },
    },
    sandboxOverride: "noOverride",
    cwd: null,
    policyContext: null,
    workspaceRoots: [],
    userHomeDir: null,
    temporaryDirectories: null,
    windowsSandboxProxySettingsMode: null,
    useLegacyLandlock: false,
  });
});

Deno.test("what is no sandbox is refused by the name of what is wrong with it", async () => {
  const refused: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /invalid type: null/],
    [{ type: "read-only" }, /missing field `permissions`/],
    [{ ...await documented(), windowsSandboxLevel: undefined }, /missing field `windowsSandboxLevel`/],
    [{ ...await documented(), cwd: "/srv/app" }, /relative URL without a base/],
  ];
  for (const [document, message] of refused) assert.throws(() => sandboxDocument(document), { message });
});
