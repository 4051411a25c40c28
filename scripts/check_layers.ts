/**
 * Holds the arrows between the folders of `lib/`: which may import which, who alone may touch libc, Node's modules and
 * npm packages, and that no two files import each other in a circle. Type imports count as well.
 */

const ROOT = new URL("..", import.meta.url);

/**
 * Folder of `lib/` → the folders it may import besides itself. Every file may import those directly in `lib/`, which
 * import nothing but each other and `deno.json`.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "main.ts": ["cli", "server", "relay", "rpc", "sandbox", "linux"],
  "cli": ["client", "local", "server", "sandbox"],
  "server": ["protocol", "rpc", "process", "fs", "http", "discovery", "relay", "sandbox"],
  "local": ["client", "protocol", "process", "fs", "http", "sandbox"],
  "client": ["protocol", "rpc", "relay", "toml"],
  "relay": ["rpc"],
  "process": ["sandbox", "linux"],
  "fs": ["sandbox", "linux"],
  "discovery": ["sandbox", "linux", "toml"],
  "toml": [],
  "sandbox": ["linux"],
  "linux": [],
  "http": ["linux"],
  "protocol": ["sandbox"],
  "rpc": [],
};

/** What only one place may do: a pattern of the source text, and where it may stand. */
const RESERVED: readonly { what: string; pattern: RegExp; allowed: RegExp }[] = [
  {
    what: "opening a native library",
    pattern: /\bDeno\.dlopen\(/,
    allowed: /^lib\/linux\/(libc|file_calls|system_call|tcp)\.ts$/,
  },
  {
    what: "a Node module",
    pattern: /from "node:|import\("node:/,
    allowed: /^lib\/(process\/portable|relay|http|client\/node)\//,
  },
  {
    what: "an npm package",
    pattern: /(from|import\() ?"(?!\.|node:)/,
    allowed: /^lib\/(process\/portable|relay|toml|discovery)\//,
  },
  { what: "ending the program", pattern: /\bDeno\.exit\(/, allowed: /^main\.ts$/ },
];

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

const files = await sourceFiles();
const faults = [...files.values()].flatMap((file) => [...arrowFaults(file), ...reservedFaults(file)]);
faults.push(...circleFaults());
for (const fault of faults) console.error(fault);
if (faults.length > 0) Deno.exit(1);
console.log(`layers: ${files.size} files, no fault`);

async function sourceFiles(): Promise<Map<string, SourceFile>> {
  const found = new Map<string, SourceFile>();
  const visit = async (path: string): Promise<void> => {
    const url = new URL(path, ROOT);
    if ((await Deno.stat(url)).isDirectory) {
      for await (const entry of Deno.readDir(url)) await visit(`${path}/${entry.name}`);
    } else if (path.endsWith(".ts")) {
      const text = await Deno.readTextFile(url);
      found.set(path, { path, text, imports: importsOf(path, text) });
    }
  };
  await visit("main.ts");
  await visit("lib");
  return found;
}

/** Relative imports, static, dynamic and re-exported, as paths from the root. */
function importsOf(path: string, text: string): string[] {
  const specifiers = text.matchAll(/(?:\bfrom|\bimport\(|\bimport) ?"(\.[^"]+)"/g);
  const base = new URL(path, ROOT);
  return [...specifiers].map(([, specifier]) => new URL(specifier!, base).pathname.slice(ROOT.pathname.length));
}

/** `lib/process/linux/spawn.ts` → `process`; a file directly in `lib/` → ``; `main.ts` → itself. */
function folderOf(path: string): string {
  const [first, second, ...rest] = path.split("/");
  return first !== "lib" ? first! : rest.length === 0 ? "" : second!;
}

function* arrowFaults({ path, imports }: SourceFile): Generator<string> {
  const from = folderOf(path);
  for (const target of imports) {
    const to = folderOf(target);
    if (to === "" || to === from) continue;
    const allowed = from === "" ? ["deno.json"] : MAY_IMPORT[from];
    if (allowed === undefined) yield `${path}: folder ${from} is unknown to scripts/check_layers.ts`;
    else if (!allowed.includes(to)) yield `${path}: may not import ${target} (${from || "lib"} → ${to})`;
  }
}

function* reservedFaults({ path, text }: SourceFile): Generator<string> {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  for (const { what, pattern, allowed } of RESERVED) {
    if (pattern.test(code) && !allowed.test(path)) yield `${path}: ${what} is reserved to ${allowed.source}`;
  }
}

function* circleFaults(): Generator<string> {
  const done = new Set<string>();
  const walk = function* (path: string, trail: readonly string[]): Generator<string> {
    if (trail.includes(path)) {
      yield `import circle: ${[...trail.slice(trail.indexOf(path)), path].join(" → ")}`;
      return;
    }
    if (done.has(path)) return;
    for (const target of files.get(path)?.imports ?? []) yield* walk(target, [...trail, path]);
    done.add(path);
  };
  for (const path of files.keys()) yield* walk(path, []);
}
