import assert from "node:assert/strict";

const PROJECT = new URL("../../", import.meta.url);

interface Graph {
  readonly roots: readonly [string];
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly isDynamic?: boolean;
      readonly code?: { readonly specifier?: string };
    }[];
  }[];
}

/** What is loaded with a module at once: no types, and nothing of what it imports when it is needed. */
async function loadedWith(path: string): Promise<string[]> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", path],
    cwd: PROJECT,
    stderr: "inherit",
  });
  const graph: Graph = JSON.parse(new TextDecoder().decode((await command.output()).stdout));
  const modules = new Map(graph.modules.map((module) => [module.specifier, module]));
  const loaded = new Set<string>(graph.roots);
  for (const specifier of loaded) {
    for (const { isDynamic, code } of modules.get(specifier)?.dependencies ?? []) {
      if (isDynamic !== true && code?.specifier !== undefined) loaded.add(code.specifier);
    }
  }
  return [...loaded];
}

for (const path of ["main.ts", "lib/server/mod.ts", "lib/client/mod.ts"]) {
  Deno.test(`nothing of the relay, of Node and of npm is loaded with ${path}`, async () => {
    const loaded = await loadedWith(path);
    assert.ok(loaded.length > 10, "the graph was read");
    assert.deepEqual(loaded.filter((name) => /\/lib\/relay\/|^(node|npm):/.test(name)), []);
  });
}
