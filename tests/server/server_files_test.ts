import assert from "node:assert/strict";
// Loaded here, because a library stays open once it is.
import "../../lib/fs/linux/system.ts";
import "../../lib/fs/sandboxed/confined_files.ts";
import { silentLog } from "../../lib/log.ts";
import type { ProgramConfinement } from "../../lib/sandbox/confine_program.ts";
import { LazySandbox } from "../../lib/sandbox/lazy_sandbox.ts";
import type { AccessPlan } from "../../lib/sandbox/policy.ts";
import type { Enforcement, FileConfinement, Sandbox } from "../../lib/sandbox/sandbox.ts";
import { ServerFiles } from "../../lib/server/server_files.ts";

const DEMAND: ProgramConfinement = {
  policy: {
    fileSystem: { entries: [], globScanMaxDepth: null, cwd: null, workspaceRoots: [], tmpdir: null },
    network: "restricted",
  },
  useLegacyLandlock: false,
};
const caller = { signal: new AbortController().signal, budgetMs: () => 5 };

Deno.test({
  name: "no helper is started for a request whose server has ended while it was being loaded",
  ignore: Deno.build.os !== "linux",
  async fn() {
    let started = 0;
    const files: FileConfinement = {
      arguments: () => (started++, ["/bin/true"]),
      confinement: { kind: "mounts", mounts: [] },
      hold: () => Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve() }),
    };
    const sandbox = {
      plan: () => ({ fullWrite: false }) as AccessPlan,
      enforcement: () => Promise.resolve({ files } as Enforcement),
    } satisfies Partial<Sandbox> as unknown as Sandbox;
    const choice = { choice: "auto", secretPaths: [], log: silentLog } as const;
    const server = new ServerFiles(silentLog, new LazySandbox(choice, () => Promise.resolve(sandbox)));
    const asking = server.confine(() => DEMAND);
    await server[Symbol.asyncDispose]();
    const operations = await asking;
    const path = new TextEncoder().encode("/");
    await assert.rejects(async () => await operations.getMetadata(path, true, caller), {
      kind: "internal",
      message: "the server is ending",
    });
    assert.equal(started, 0);
  },
});
