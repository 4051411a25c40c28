import assert from "node:assert/strict";
import { DiscoveryFiles } from "../../lib/discovery/files.ts";
import { systemFiles } from "../../lib/fs/backend.ts";
import { silentLog } from "../../lib/log.ts";
import type { SandboxPolicy } from "../../lib/sandbox/policy.ts";
import type { DiscoveryHandlerOptions } from "../../lib/server/discovery_handlers.ts";
import { Scratch } from "../fs/scratch.ts";
import { globEntry, pathEntry, restricted, specialEntry } from "../support/sandbox_documents.ts";
import { answerTo, hostBelow } from "./questions.ts";
import { plant } from "./tree.ts";

const FOREIGN = "file://h/x";
const SKILL = "---\nname: s\ndescription: d\n---\n";

type Root = { readonly skills: readonly unknown[]; readonly error: string | null };

/** A machine with a skill to be asked for and one that is installed, and what its answers look like. */
class Machine implements AsyncDisposable {
  readonly #scratch = new Scratch();
  readonly #operations = systemFiles({ log: silentLog });
  readonly cwd = `file://${this.#scratch.root}/work`;
  /** What was to be held, in turn. */
  readonly policies: SandboxPolicy[] = [];

  constructor() {
    plant(this.#scratch.root, { "work/SKILL.md": SKILL, "codex/skills/s/SKILL.md": SKILL });
  }

  /** Looks at everything, and writes down what it should have held. */
  readonly within: DiscoveryHandlerOptions["within"] = async ({ signal }, demand, act) => {
    this.policies.push(demand().policy);
    return await act(new DiscoveryFiles(await this.#operations, { signal, budgetMs: () => 0.5 }));
  };

  async roots(sandboxes: readonly unknown[], within?: DiscoveryHandlerOptions["within"]): Promise<readonly Root[]> {
    const roots = sandboxes.map((sandbox, at) => ({ id: `${at}`, path: this.cwd, sandbox }));
    const answer = await this.#ask("capabilityRoots/discoverV1", { roots }, within);
    return (answer["result"] as { roots: Root[] }).roots;
  }

  async installed(sandbox: unknown, within?: DiscoveryHandlerOptions["within"]): Promise<unknown> {
    const { result, error } = await this.#ask("capabilities/discoverV2", { cwd: this.cwd, sandbox }, within);
    return error ?? (result as { skills: unknown[] }).skills.length;
  }

  uninstall(): void {
    Deno.removeSync(`${this.#scratch.root}/codex/skills`, { recursive: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#operations)[Symbol.dispose]();
    this.#scratch[Symbol.dispose]();
  }

  async #ask(
    method: "capabilityRoots/discoverV1" | "capabilities/discoverV2",
    params: unknown,
    within?: DiscoveryHandlerOptions["within"],
  ): Promise<Record<string, unknown>> {
    const host = hostBelow(this.#scratch.root);
    return await answerTo(host, method, params, within === undefined ? {} : { within }) as Record<string, unknown>;
  }
}

const readAll = specialEntry("root", "read");

Deno.test("a root is looked at as its sandbox shows it, the others as they are", async () => {
  await using machine = new Machine();
  const confined = restricted([pathEntry(machine.cwd, "read")]);
  const roots = await machine.roots([confined, null, restricted([readAll])], machine.within);
  assert.deepEqual(roots.map(({ skills, error }) => [skills.length, error]), [[1, null], [1, null], [1, null]]);
  assert.equal(machine.policies.length, 1);
  const [policy] = machine.policies;
  assert.ok(policy!.fileSystem !== "unrestricted");
  assert.equal(`file://${(policy!.fileSystem.entries[0]!.path as { path: string }).path}`, machine.cwd);
});

Deno.test("a root that cannot be confined is not looked at, and says why", async () => {
  await using machine = new Machine();
  const confined = restricted([pathEntry(machine.cwd, "read")]);
  const wrong = "'file://h/x' is invalid on 'linux'";
  const failures: [unknown, string][] = [
    [confined, "fs sandbox helper failed with status none"],
    [restricted([readAll, pathEntry(FOREIGN, "write")]), `invalid sandbox permission path URI: ${wrong}`],
  ];
  const roots = await machine.roots([...failures.map(([sandbox]) => sandbox), null]);
  const reasons = failures.map(([, reason]) => `failed to inspect capability root ${machine.cwd}: ${reason}`);
  assert.deepEqual(roots.map(({ skills, error }) => [skills.length, error]), [
    ...reasons.map((reason) => [0, reason]),
    [1, null],
  ]);
  const context = restricted([pathEntry(machine.cwd, "read")], { cwd: FOREIGN });
  const [root] = await machine.roots([context], machine.within);
  assert.equal(root!.error, `failed to inspect capability root ${machine.cwd}: ${wrong}`);
});

Deno.test("what is installed is looked at as the sandbox shows it, if there is anything", async () => {
  await using machine = new Machine();
  const { cwd } = machine;
  const confined = restricted([pathEntry(cwd, "read")], { cwd });
  assert.equal(await machine.installed(confined, machine.within), 1);
  assert.equal(machine.policies.length, 1);
  // What may be read anyway is not confined, whatever else is wrong.
  assert.equal(await machine.installed(restricted([readAll, pathEntry(FOREIGN, "write")], { cwd })), 1);

  const failures: [unknown, string][] = [
    [confined, "fs sandbox helper failed with status none"],
    [restricted([readAll, globEntry("*")], { cwd }), "fs sandbox helper failed with status none"],
  ];
  for (const [sandbox, message] of failures) {
    assert.deepEqual(await machine.installed(sandbox), { code: -32603, message });
  }
  const invalid = "invalid sandbox permission path: 'file://h/x' is invalid on 'linux'";
  const bad = restricted([pathEntry(FOREIGN, "read")], { cwd });
  assert.deepEqual(await machine.installed(bad, machine.within), { code: -32603, message: invalid });

  const both = restricted([pathEntry(FOREIGN, "read")], { cwd: "file://h2/x", workspaceRoots: ["file://h3/x"] });
  const context = "'file://h2/x' is invalid on 'linux'";
  assert.deepEqual(await machine.installed(both, machine.within), { code: -32603, message: context });

  machine.uninstall();
  assert.equal(await machine.installed(confined), 0);
  assert.equal(await machine.installed(bad), 0);
});
