/** The directories of one run of the Codex CLI. Leaving the scope removes them. */
export class Stage implements AsyncDisposable {
  /** The workspace: the working directory of the CLI and of its commands. */
  readonly work: string;
  /** A directory beside the workspace, for the second environment. */
  readonly other: string;
  /** HOME of the CLI, and its CODEX_HOME below it. */
  readonly home: string;
  readonly codexHome: string;
  /** HOME and CODEX_HOME of the servers. */
  readonly serverHome: string;

  private constructor(readonly root: string) {
    this.work = `${root}/work`;
    this.other = `${root}/other`;
    this.home = `${root}/home`;
    this.codexHome = `${this.home}/.codex`;
    this.serverHome = `${root}/server`;
  }

  /** @param isOutsideTmp In the other directory for temporary files. */
  static async make(isOutsideTmp = false): Promise<Stage> {
    const options = { prefix: "exec-server-codex-", ...(isOutsideTmp ? { dir: "/var/tmp" } : {}) };
    const root = await Deno.realPath(await Deno.makeTempDir(options));
    const stage = new Stage(root);
    for (const directory of [stage.work, stage.other, `${stage.codexHome}/tmp`, `${stage.serverHome}/tmp`]) {
      await Deno.mkdir(directory, { recursive: true });
    }
    return stage;
  }

  /** Writes a file, and its parents, below the root. */
  async write(path: string, content: string | Uint8Array): Promise<void> {
    const whole = `${this.root}/${path}`;
    await Deno.mkdir(whole.slice(0, whole.lastIndexOf("/")), { recursive: true });
    await Deno.writeFile(whole, typeof content === "string" ? new TextEncoder().encode(content) : content);
  }

  /** Every file in the workspace and beside it, with its content; long ones with their size and digest. */
  async files(): Promise<Record<string, string>> {
    const found: [string, string][] = [];
    for (const directory of [this.work, this.other]) await collect(directory, this.root.length + 1, found);
    return Object.fromEntries(found.sort(([a], [b]) => a < b ? -1 : 1));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
  }
}

const LONG_BYTES = 10_000;

async function collect(directory: string, prefix: number, found: [string, string][]): Promise<void> {
  for await (const { name, isDirectory, isFile } of Deno.readDir(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory) await collect(path, prefix, found);
    found.push([path.slice(prefix), isFile ? await describe(path) : isDirectory ? "directory" : "special"]);
  }
}

async function describe(path: string): Promise<string> {
  const bytes = await Deno.readFile(path);
  if (bytes.length <= LONG_BYTES) return new TextDecoder().decode(bytes);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  return `${bytes.length} bytes, SHA-256 ${digest}`;
}
