/** Directory trees of recorded cases, made in a directory of the test's own. */

/** What stands at a path: a text; null is a directory. */
export type Content =
  | string
  | null
  | { readonly link: string }
  | { readonly base64: string }
  | { readonly fifo: true }
  | { readonly dir: true; readonly mode?: string }
  | { readonly text: string; readonly mode?: string }
  | { readonly before?: string; readonly repeat: string; readonly times: number; readonly after?: string };

export type Tree = Readonly<Record<string, Content>>;

/** Many files alike: `#` in path and text is a number. */
export interface Generated {
  readonly path: string;
  readonly width?: number;
  readonly count: number;
  readonly content: Content;
}

/** In the cases it stands for the directory of the test. */
const ROOT = "<T>";

/** Puts the directory of the test into a recorded value. */
export function placed<T>(value: T, root: string): T {
  return JSON.parse(JSON.stringify(value).replaceAll(ROOT, root));
}

/** The directories that every case has, and the tree of this one. Files can be read by everybody unless they say no. */
export function plant(root: string, tree: Tree, generated: readonly Generated[] = []): void {
  Deno.chmodSync(root, 0o755);
  for (const name of ["home", "codex", "etc", "work"]) Deno.mkdirSync(`${root}/${name}`, { recursive: true });
  const modes: [path: string, mode: number][] = [];
  for (const [name, content] of [...Object.entries(tree), ...generated.flatMap(allOf)]) {
    const path = `${root}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    put(path, content, root);
    if (content !== null && typeof content === "object" && "mode" in content && content.mode !== undefined) {
      modes.push([path, parseInt(content.mode, 8)]);
    }
  }
  for (const [path, mode] of modes) Deno.chmodSync(path, mode);
}

/** What can be removed again whoever removes it. */
export function uproot(root: string, tree: Tree): void {
  for (const [name, content] of Object.entries(tree).sort(([one], [other]) => one.length - other.length)) {
    if (content !== null && typeof content === "object" && "mode" in content) Deno.chmodSync(`${root}/${name}`, 0o755);
  }
}

function put(path: string, content: Content, root: string): void {
  if (content === null) Deno.mkdirSync(path, { recursive: true });
  else if (typeof content === "string") Deno.writeTextFileSync(path, content.replaceAll(ROOT, root));
  else if ("link" in content) Deno.symlinkSync(content.link.replaceAll(ROOT, root), path);
  else if ("base64" in content) Deno.writeFileSync(path, Uint8Array.fromBase64(content.base64));
  else if ("fifo" in content) new Deno.Command("mkfifo", { args: [path] }).outputSync();
  else if ("dir" in content) Deno.mkdirSync(path, { recursive: true });
  else if ("text" in content) Deno.writeTextFileSync(path, content.text);
  else {
    const { before = "", repeat, times, after = "" } = content;
    Deno.writeTextFileSync(path, `${before}${repeat.repeat(times)}${after}`);
  }
}

function allOf({ path, width = 0, count, content }: Generated): [string, Content][] {
  return Array.from({ length: count }, (_, number): [string, Content] => [
    path.replace("#", String(number).padStart(width, "0")),
    typeof content === "string" ? content.replaceAll("#", String(number)) : content,
  ]);
}
