import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { answerTo, asOrdinaryUser, type DiscoveryName, type Environment, hostBelow } from "../discovery/questions.ts";
import { type Generated, placed, plant, type Tree, uproot } from "../discovery/tree.ts";
import { Scratch } from "../fs/scratch.ts";
import { encodedWithin } from "../../lib/server/discovery_handlers.ts";
import { readCases } from "../support/cases.ts";

/** What the reference answered below a directory with that tree, step by step. */
interface Case {
  readonly name: string;
  readonly env?: Environment;
  readonly tree?: Tree;
  readonly generate?: readonly Generated[];
  readonly steps: readonly {
    readonly method: DiscoveryName;
    readonly params: unknown;
    /** Commands of the shell that are run first. */
    readonly before?: readonly string[];
    readonly answer?: unknown;
    /** SHA-256 of a large answer, as {@linkcode canonical} writes it. */
    readonly digest?: string;
  }[];
}

for (const file of ["environment_config", "capability_roots", "installed"]) {
  for (const recorded of readCases<Case>(`../discovery/cases/${file}.jsonl`, import.meta.url)) {
    Deno.test({
      name: `discovery answers as recorded: ${file}, ${recorded.name}`,
      ignore: Deno.build.os !== "linux",
      fn: () => replay(recorded),
    });
  }
}

async function replay({ env = {}, tree = {}, generate = [], steps }: Case): Promise<void> {
  using scratch = new Scratch();
  const { root } = scratch;
  plant(root, tree, generate);
  try {
    const host = hostBelow(root, placed(env, root));
    for (const { method, params, before = [], answer, digest } of steps) {
      for (const command of before) scratch.shell(placed(command, root));
      const actual = asRecorded(await asOrdinaryUser(() => answerTo(host, method, placed(params, root))), root);
      if (digest === undefined) assert.deepEqual(actual, answer);
      else assert.equal(createHash("sha256").update(canonical(actual)).digest("hex"), digest);
    }
  } finally {
    uproot(root, tree);
  }
}

/** Without the places and the name of this machine. */
function asRecorded(answer: unknown, root: string): unknown {
  const text = JSON.stringify(answer).replaceAll(`${root}/etc`, "<ETC>").replaceAll(root, "<T>");
  return JSON.parse(text.replaceAll("host.example", "<HOST>"));
}

/** JSON without white space, the members of objects by name. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => one < other ? -1 : 1);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}

Deno.test("roots that would make an answer too long have an error in the place of their files", async () => {
  const empty = { plugin: null, skills: [], namespaceManifests: [], warnings: [], error: null };
  const root = (id: string, chars: number) => ({ ...empty, id, path: "file:///r", warnings: ["x".repeat(chars)] });
  async function* roots() {
    yield root("a", 100);
    yield root("b", 5_000);
    yield root("c", 100);
  }
  const texts = await encodedWithin(1_000, roots(), (error) => ({ ...empty, error }));
  const decoded = texts.map((text) => JSON.parse(text) as { id: string; warnings: string[]; error: string | null });
  assert.deepEqual(decoded.map(({ id, warnings }) => [id, warnings.length]), [["a", 1], ["b", 0], ["c", 1]]);
  assert.match(decoded[1]!.error!, /more than 1000 characters/);
});
