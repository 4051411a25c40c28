/** A checkout of its own for the script that makes executables, with what it needs and nothing else. */

const PROJECT = new URL("../../", import.meta.url).pathname;
const NEEDED = ["main.ts", "lib", "scripts/compile.ts", "scripts/compile", "deno.json", "deno.lock"];

/** What a program of Linux says of its machine, and where. */
const ELF_MACHINES: Readonly<Record<string, number>> = { x86_64: 62, aarch64: 183 };
const ELF_MACHINE_OFFSET = 18;

/** What earlier runs have made. */
const EARLIER = { "exec-server": "earlier", "exec-server-aarch64-linux-gnu": "earlier", "SHA256SUMS": "earlier" };

export class Checkout implements AsyncDisposable {
  readonly #directory: string;
  /** Its name has a blank in it. */
  readonly path: string;
  /** A program in the format of this system that passes for a run-time base, and is none. */
  readonly base: string;

  private constructor(directory: string) {
    this.#directory = directory;
    this.path = `${directory}/a checkout`;
    this.base = `${directory}/base`;
  }

  /** @param target For which the base passes, of Linux. */
  static async make(target: string = Deno.build.target): Promise<Checkout> {
    const checkout = new Checkout(await Deno.makeTempDir({ prefix: "exec-server-compile-test-" }));
    await Deno.mkdir(`${checkout.path}/scripts`, { recursive: true });
    await Deno.mkdir(`${checkout.path}/dist`);
    for (const name of NEEDED) await copy(`${PROJECT}${name}`, `${checkout.path}/${name}`);
    for (const [name, text] of Object.entries(EARLIER)) await Deno.writeTextFile(`${checkout.path}/dist/${name}`, text);
    const program = await Deno.readFile("/bin/true");
    program[ELF_MACHINE_OFFSET] = ELF_MACHINES[target.split("-")[0]!]!;
    const marker = new TextEncoder().encode(`Deno/${Deno.version.deno}`);
    await Deno.writeFile(checkout.base, program, { mode: 0o755 });
    await Deno.writeFile(checkout.base, marker, { append: true });
    return checkout;
  }

  /** Starts the script, from a folder that has nothing to do with it. */
  start(args: readonly string[], env: Readonly<Record<string, string>>): Deno.ChildProcess {
    return new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", `${this.path}/scripts/compile.ts`, "--no-check", ...args],
      cwd: this.#directory,
      env: { NO_COLOR: "1", DENORT_BIN: this.base, DENO_BIN: Deno.execPath(), ...env },
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  }

  async run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const { code, stdout, stderr } = await this.start(args, env).output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  }

  /** Names and texts of what lies in `dist`, of executables the length alone. */
  dist(): Record<string, string> {
    const names = [...Deno.readDirSync(`${this.path}/dist`)].map(({ name }) => name).sort();
    return Object.fromEntries(names.map((name) => {
      const path = `${this.path}/dist/${name}`;
      const { isFile, size } = Deno.statSync(path);
      return [name, !isFile ? "a directory" : size > 1000 ? "large" : Deno.readTextFileSync(path)];
    }));
  }

  /** What `dist` holds if a run has not changed it. */
  static readonly untouched: Readonly<Record<string, string>> = EARLIER;

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#directory, { recursive: true });
  }
}

async function copy(from: string, to: string): Promise<void> {
  if ((await Deno.stat(from)).isFile) return await Deno.copyFile(from, to);
  await Deno.mkdir(to);
  for await (const { name } of Deno.readDir(from)) await copy(`${from}/${name}`, `${to}/${name}`);
}
