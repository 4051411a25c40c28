/** How many directories above the working directory are still the scenario's own. */
export const ANCESTORS = 4;

/** Where a server under test lives: a working directory with the files that recordings expect, and a home of its own. */
export class Workspace implements AsyncDisposable {
  /** Everything lies in it. */
  readonly root: string;
  /** The server's working directory, also that of the processes. */
  readonly cwd: string;
  readonly home: string;
  /** Files with tokens and secrets. */
  readonly secrets: string;
  /** Empty, for scenarios about files. */
  readonly scene: string;

  readonly #variables: readonly string[] | undefined;

  private constructor(root: string, variables: readonly string[] | undefined) {
    this.root = root;
    this.#variables = variables;
    this.cwd = `${root}/one/two/three/work`;
    this.home = `${root}/home`;
    this.secrets = `${root}/secrets`;
    this.scene = `${root}/scene`;
  }

  /** @param variables Which of its variables an {@linkcode environment} has; default: all. */
  static async create(variables?: readonly string[]): Promise<Workspace> {
    const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "exec-server-wire-" }));
    const workspace = new Workspace(root, variables);
    const { cwd, home, secrets, scene } = workspace;
    for (const directory of [`${cwd}/sub`, `${cwd}/with space`, `${home}/.codex`, `${home}/.cache`, secrets, scene]) {
      await Deno.mkdir(directory, { recursive: true });
    }
    await Deno.writeTextFile(`${cwd}/file.txt`, "hi");
    await Deno.writeTextFile(`${cwd}/script.sh`, "#!/bin/sh\necho script\n", { mode: 0o755 });
    await Deno.writeTextFile(`${cwd}/noexec.sh`, "#!/bin/sh\necho never\n", { mode: 0o644 });
    await Deno.writeTextFile(`${cwd}/nohash`, "echo never\n", { mode: 0o755 });
    await Deno.writeTextFile(`${home}/.codex/config.toml`, 'model = "x"\n');
    await Deno.writeTextFile(`${secrets}/tok`, "s3cr3t-token\n");
    await Deno.writeTextFile(`${secrets}/secret`, `${SHARED_SECRET}\n`);
    await Deno.writeTextFile(`${secrets}/secshort`, "short\n");
    await Deno.writeTextFile(`${secrets}/tokempty`, "\n");
    await linkModuleCache(home);
    return workspace;
  }

  /**
   * The whole environment of a server: the search path and what is in here, nothing else of ours. `PROBE_MARK` is a
   * variable that recordings see inherited.
   */
  environment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
    const all = {
      PATH: searchPath(),
      HOME: this.home,
      CODEX_HOME: `${this.home}/.codex`,
      PROBE_MARK: "inherited",
    };
    const given = Object.entries(all).filter(([name]) => this.#variables?.includes(name) ?? true);
    return { ...Object.fromEntries(given), ...extra };
  }

  /** Lets a server that runs as another user in; its home becomes its own, with a module cache that it fills itself. */
  async giveTo({ uid, gid }: { readonly uid: number; readonly gid: number }): Promise<void> {
    await Deno.chmod(this.root, 0o755);
    await Deno.remove(`${this.home}/.cache/deno`);
    for (const path of [this.home, `${this.home}/.codex`, `${this.home}/.cache`]) await Deno.chown(path, uid, gid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
  }
}

/** Where servers under test look for programs. */
export function searchPath(): string {
  return Deno.env.get("PATH") ?? "/usr/bin:/bin";
}

/** The key of signed tokens; at least 32 bytes. */
export const SHARED_SECRET = "0123456789abcdef".repeat(2);

/** A program that Deno runs from source finds its compiled modules where it looks for them: below HOME. */
async function linkModuleCache(home: string): Promise<void> {
  const cache = Deno.env.get("DENO_DIR") ??
    `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME") ?? "/root"}/.cache`}/deno`;
  await Deno.symlink(cache, `${home}/.cache/deno`);
}
