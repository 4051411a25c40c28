/** What discovery finds in real sandboxes, as the reference finds it. */
import assert from "node:assert/strict";
import { DiscoveryFiles } from "../../lib/discovery/files.ts";
import { systemFiles } from "../../lib/fs/backend.ts";
import { PolicyFiles } from "../../lib/fs/policy_files.ts";
import type { Confined, ConfinedFilesOptions } from "../../lib/fs/sandboxed/confined.ts";
import { ConfinedFiles } from "../../lib/fs/sandboxed/confined_files.ts";
import { silentLog } from "../../lib/log.ts";
import { DEFAULT_SANDBOX, LazySandbox } from "../../lib/sandbox/lazy_sandbox.ts";
import type { DiscoveryHandlerOptions } from "../../lib/server/discovery_handlers.ts";
import { Scratch } from "../fs/scratch.ts";
import { backEndMissing } from "../sandbox/support/back_ends.ts";
import { SELF } from "../sandbox/support/user.ts";
import { globEntry, pathEntry, restricted, specialEntry } from "../support/sandbox_documents.ts";
import { answerTo, hostBelow } from "./questions.ts";
import { plant } from "./tree.ts";

const SKILL = "---\nname: NAME\ndescription: d\n---\n";
const ignore = await backEndMissing("unshare", SELF) !== undefined;
const readAll = specialEntry("root", "read");

// What is loaded once stays; no test is to be blamed for that.
if (!ignore) await import("../../lib/sandbox/linux_sandbox.ts");

/** What the wire would say, without the directory in which everything is. */
type Ask = (method: "capabilityRoots/discoverV1" | "capabilities/discoverV2", params: unknown) => Promise<unknown>;

/** A machine with a directory to be asked for, one beside it, and a skill in each of two places. */
async function onMachine(act: (ask: Ask) => Promise<void>): Promise<void> {
  using scratch = new Scratch();
  const { root } = scratch;
  plant(root, {
    "work/cap/s/SKILL.md": SKILL.replace("NAME", "s"),
    "work/other/file": "x",
    "codex/skills/one/SKILL.md": SKILL.replace("NAME", "one"),
    "home/.agents/skills/two/SKILL.md": SKILL.replace("NAME", "two"),
  });
  using operations = await systemFiles({ log: silentLog });
  using sandbox = new LazySandbox({ ...DEFAULT_SANDBOX, log: silentLog });
  await using confined = new AsyncDisposableStack();
  const create = (options: ConfinedFilesOptions): Promise<Confined> => {
    const files = new ConfinedFiles(options);
    confined.defer(() => files.left());
    return Promise.resolve(files);
  };
  using files = new PolicyFiles({ sandbox, operations, log: silentLog }, create);
  const within: DiscoveryHandlerOptions["within"] = ({ signal }, demand, act) => {
    const caller = { signal, budgetMs: () => 0.5 };
    return files.during(demand, caller, (operations) => act(new DiscoveryFiles(operations, caller)));
  };
  await act(async (method, params) => {
    const placed = JSON.parse(JSON.stringify(params).replaceAll("<T>", root)) as unknown;
    const answer = await answerTo(hostBelow(root), method, placed, { within });
    return JSON.parse(JSON.stringify(answer).replaceAll(root, "<T>")) as unknown;
  });
}

Deno.test({
  name: "roots are discovered as their sandboxes show them",
  ignore,
  fn: () =>
    onMachine(async (ask) => {
      const cap = "file://<T>/work/cap", other = "file://<T>/work/other";
      const cases: readonly (readonly [string, unknown, (readonly [number, readonly string[], string | null])])[] = [
        [cap, restricted([pathEntry(cap, "read")]), [1, [], null]],
        [cap, restricted([pathEntry(other, "write"), pathEntry(cap, "read")]), [1, [], null]],
        [other, restricted([pathEntry(cap, "read")]), [
          0,
          [],
          `failed to inspect capability root ${other}: No such file or directory (os error 2)`,
        ]],
        [cap, restricted([readAll, pathEntry(`${cap}/s`, "deny")]), [
          0,
          [`failed to scan capability path ${cap}/s: Permission denied (os error 13)`],
          null,
        ]],
        [cap, restricted([readAll, globEntry("/**/*.md")]), [
          0,
          [],
          `failed to inspect capability root ${cap}: fs sandbox helper failed with status unavailable: unreadable glob ` +
          "`/**/*.md` cannot be safely expanded; use a pattern with a non-root directory prefix",
        ]],
      ];
      const roots = cases.map(([path, sandbox], at) => ({ id: `${at}`, path, sandbox }));
      const { result } = await ask("capabilityRoots/discoverV1", { roots }) as {
        result: { roots: { skills: unknown[]; warnings: string[]; error: string | null }[] };
      };
      const found = result.roots.map(({ skills, warnings, error }) => [skills.length, warnings, error]);
      assert.deepEqual(found, cases.map(([, , expected]) => expected));
    }),
});

Deno.test({
  name: "what is installed is discovered as the sandbox shows it",
  ignore,
  fn: () =>
    onMachine(async (ask) => {
      const incomplete = ["some capability metadata could not be loaded; discovery may be incomplete"];
      const skills = "file://<T>/codex/skills";
      const cases: readonly (readonly [readonly unknown[], readonly string[], readonly string[]])[] = [
        [[pathEntry("file://<T>/work", "read")], [], []],
        [[pathEntry(skills, "read")], ["one"], []],
        [[readAll, pathEntry(skills, "deny")], ["two"], incomplete],
        [[readAll, pathEntry(`${skills}/one`, "deny")], ["two"], incomplete],
        [[readAll, globEntry("**/*.md")], ["one", "two"], []],
        [[specialEntry("project_roots", "read")], ["two"], []],
      ];
      for (const [entries, names, warnings] of cases) {
        const context = { cwd: "file://<T>/work", workspaceRoots: ["file://<T>/home"] };
        const params = { cwd: context.cwd, sandbox: restricted(entries, context) };
        const { result } = await ask("capabilities/discoverV2", params) as {
          result: { skills: { name: string }[]; warnings: string[] };
        };
        assert.deepEqual([result.skills.map(({ name }) => name), result.warnings], [names, warnings]);
      }
    }),
});
