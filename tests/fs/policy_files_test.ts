import assert from "node:assert/strict";
import { ExecError } from "../../lib/errors.ts";
import { PolicyFiles } from "../../lib/fs/policy_files.ts";
import type { Caller, FileOperations } from "../../lib/fs/operations.ts";
import type { Confined } from "../../lib/fs/sandboxed/confined.ts";
import { silentLog } from "../../lib/log.ts";
import { LazySandbox } from "../../lib/sandbox/lazy_sandbox.ts";
import type { AccessPlan, SandboxPolicy } from "../../lib/sandbox/policy.ts";
import type { Enforcement, FileConfinement, Sandbox } from "../../lib/sandbox/sandbox.ts";
import { fakeOperations } from "./fake_operations.ts";
import { bytesOf } from "./scratch.ts";

const POLICY: SandboxPolicy = {
  fileSystem: { entries: [], globScanMaxDepth: null, cwd: null, workspaceRoots: [], tmpdir: null },
  network: "enabled",
};
const DEMAND = { policy: POLICY, useLegacyLandlock: false };
const PATH = bytesOf("/file");
const caller: Caller = { signal: new AbortController().signal, budgetMs: () => 5 };
/** What the back end gives, with its mark. */
const files: FileConfinement = {
  arguments: ({ argv }) => argv,
  confinement: { kind: "filters" },
  hold: () => Promise.reject(new ExecError("sandboxUnavailable", "no mount point")),
};

/** Writes down what is asked of whom. */
class World {
  readonly asked: string[] = [];
  policies: SandboxPolicy[] = [];
  enforcement: () => Promise<Enforcement | null> = () => Promise.resolve({ files } as Enforcement);
  disposed = 0;
  /** What the last `during` was given. */
  held: FileConfinement | undefined;
  readonly files: PolicyFiles;

  constructor(isExternal = false, created: Promise<void> = Promise.resolve()) {
    const operations = this.#operations("free");
    const sandbox = {
      plan: (policy) => {
        this.policies.push(policy);
        return { fullWrite: false } as AccessPlan;
      },
      enforcement: () => (this.asked.push("enforcement"), this.enforcement()),
    } satisfies Partial<Sandbox> as unknown as Sandbox;
    const choice = { choice: isExternal ? "external" : "auto", secretPaths: [], log: silentLog } as const;
    this.files = new PolicyFiles(
      { sandbox: new LazySandbox(choice, () => Promise.resolve(sandbox)), operations, log: silentLog },
      async () => {
        this.asked.push("created");
        await created;
        return this.#confined();
      },
    );
  }

  #confined(): Confined {
    return {
      operations: (enforce) =>
        fakeOperations({
          canonicalize: async () => {
            assert.equal((await enforce(caller.signal)).confinement, files.confinement);
            return this.#operations("confined").canonicalize(PATH, caller);
          },
        }),
      during: async (enforce, { signal }, act) => {
        const confinement = this.held = await enforce(signal);
        assert.equal(confinement.confinement, files.confinement);
        return await act(this.#operations("together"));
      },
      left: () => Promise.resolve(void this.asked.push("left")),
      [Symbol.dispose]: () => this.disposed++,
    };
  }

  #operations(name: string): FileOperations {
    return fakeOperations({ canonicalize: () => (this.asked.push(name), PATH) });
  }
}

async function ask(world: World, check?: () => void): Promise<void> {
  await (await world.files.under(() => DEMAND, check)).canonicalize(PATH, caller);
}

Deno.test("each operation is confined to what the policy comes to then, without network", async () => {
  const world = new World();
  using _ = world.files;
  const checked = () => world.asked.push("checked");
  await ask(world, checked);
  await ask(world, checked);
  const each = ["enforcement", "checked", "confined"];
  assert.deepEqual(world.asked, ["created", ...each, ...each]);
  assert.deepEqual(world.policies, [{ ...POLICY, network: "restricted" }, { ...POLICY, network: "restricted" }]);
});

Deno.test("several operations share one confinement", async () => {
  const world = new World();
  using _ = world.files;
  const result = await world.files.during(() => DEMAND, caller, async (operations) => {
    await operations.canonicalize(PATH, caller);
    await operations.canonicalize(PATH, caller);
    return "done";
  });
  assert.equal(result, "done");
  assert.deepEqual(world.asked, ["created", "enforcement", "together", "together"]);
});

Deno.test("nothing is enforced where the machine around is the sandbox, and nothing is loaded for it", async () => {
  const world = new World(true);
  using _ = world.files;
  await ask(world, () => world.asked.push("checked"));
  await world.files.during(() => DEMAND, caller, async (operations) => await operations.canonicalize(PATH, caller));
  assert.deepEqual(world.asked, ["checked", "free", "free"]);
  const refused = () => {
    throw new ExecError("invalidRequest", "refused");
  };
  assert.throws(() => world.files.under(refused), { kind: "invalidRequest", message: "refused" });
});

Deno.test("what cannot be confined fails in the words for files, and nothing is done", async () => {
  const world = new World();
  using _ = world.files;
  const missing = new ExecError("sandboxUnavailable", "sandbox unavailable: no back end");
  const failure = {
    name: "ExecError",
    kind: "internal",
    message: "fs sandbox helper failed with status unavailable: no back end",
  };
  world.enforcement = () => Promise.reject(missing);
  const checked = () => world.asked.push("checked");
  await assert.rejects(ask(world, checked), failure);
  const act = () => Promise.resolve(world.asked.push("acted"));
  await assert.rejects(world.files.during(() => DEMAND, caller, act), failure);
  const legacy = await world.files.under(() => ({ ...DEMAND, useLegacyLandlock: true }));
  await assert.rejects(
    async () => await legacy.canonicalize(PATH, caller),
    /status unavailable: useLegacyLandlock /,
  );
  world.enforcement = () => Promise.resolve(null);
  await assert.rejects(ask(world, checked), /restricts nothing/);
  assert.deepEqual(world.asked, ["created", "enforcement", "enforcement", "enforcement"]);
});

Deno.test("what a confinement needs later fails in the same words", async () => {
  const world = new World();
  using _ = world.files;
  await world.files.during(() => DEMAND, caller, async () => {
    const { signal } = caller;
    assert.deepEqual(world.held!.arguments({ argv: ["/p"], env: {} }), ["/p"]);
    await assert.rejects(world.held!.hold(signal), {
      kind: "internal",
      message: "fs sandbox helper failed with status unavailable: no mount point",
    });
  });
});

Deno.test("a failed check is the operation's failure", async () => {
  const world = new World();
  using _ = world.files;
  const refuse = () => {
    throw new ExecError("invalidRequest", "too many");
  };
  await assert.rejects(ask(world, refuse), { kind: "invalidRequest", message: "too many" });
  assert.deepEqual(world.asked, ["created", "enforcement"]);
});

Deno.test("what was loaded ends with the scope, also when it comes later", async () => {
  const early = new World();
  await ask(early);
  early.files[Symbol.dispose]();
  assert.equal(early.disposed, 1);
  const awaited = new World();
  await ask(awaited);
  await awaited.files[Symbol.asyncDispose]();
  assert.deepEqual([awaited.disposed, awaited.asked.at(-1)], [1, "left"]);
  const created = Promise.withResolvers<void>();
  const late = new World(false, created.promise);
  const asking = ask(late);
  late.files[Symbol.dispose]();
  created.resolve();
  await asking;
  assert.equal(late.disposed, 1);
});
