/** Of the entries of an import map, those that are named in a string in the modules at these paths. */
export async function runtimeImports(
  imports: Readonly<Record<string, string>>,
  paths: readonly string[],
): Promise<Record<string, string>> {
  const sources = (await Promise.all(paths.map(modules))).flat();
  return Object.fromEntries(
    Object.entries(imports).filter(([name]) => {
      const start = name.endsWith("/") ? `"${name}` : `"${name}"`;
      return sources.some((source) => source.includes(start));
    }),
  );
}

async function modules(path: string): Promise<string[]> {
  if ((await Deno.stat(path)).isFile) return /\.[jt]s$/.test(path) ? [await Deno.readTextFile(path)] : [];
  const entries = await Array.fromAsync(Deno.readDir(path));
  return (await Promise.all(entries.map(({ name }) => modules(`${path}/${name}`)))).flat();
}
