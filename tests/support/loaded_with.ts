/** What is loaded with a module at once: no types, and nothing of what it imports when it is needed. */

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

/** @param path From the project's directory. @returns URLs, the module's own among them. */
export async function loadedWith(path: string): Promise<string[]> {
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
