/** `scripts/install.sh` on a machine that says of itself what a test wants, before a release that a test has filled. */

const SCRIPT = new URL("../../scripts/install.sh", import.meta.url).pathname;

/** What the script uses and need not be false. */
const TRUE_TOOLS = ["chmod", "curl", "grep", "mkdir", "mktemp", "mv", "printf", "rm", "sha256sum", "sh"];

/** Where the program of a release stops if its transfer is to break off. */
const BREAK = "(the connection breaks here)";

export const VERSION = "9.8.7";

/** What the commands answer by which the script learns where it is; one without an answer is not there. */
export interface MachineAnswers {
  readonly system: string;
  readonly machine: string;
  /** Of `getconf GNU_LIBC_VERSION`. */
  readonly libc?: string;
  /** Of `getconf LONG_BIT`. */
  readonly bits?: string;
  /** Of `ldd --version`, on stderr. */
  readonly ldd?: string;
  /** Of `sysctl -n sysctl.proc_translated`. */
  readonly translated?: string;
  readonly userId?: number;
}

export const DEBIAN: MachineAnswers = { system: "Linux", machine: "x86_64", libc: "glibc 2.36", bits: "64" };

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a program is here: it runs everywhere and says what it is told to say. */
export function programSaying(text: string): string {
  return `#!/bin/sh\necho '${text}'\n`;
}

/** What begins as that and never arrives whole. */
export function brokenOff(content: string): string {
  return content + BREAK;
}

/** The file for DEBIAN. */
export const LINUX = "exec-server-x86_64-linux-gnu";
export const PROGRAM = programSaying(`exec-server ${VERSION}`);
/** What the script of the sources has to be told. */
export const CHOICE: readonly string[] = ["--version", VERSION];

/** What a directory has in it, sorted; nothing if it is not there. */
export function namesIn(directory: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

export async function sumOf(content: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(content))).toHex();
}

export class InstallScene implements AsyncDisposable {
  /** Path below the address of the releases → what is there. */
  readonly published = new Map<string, string>();
  readonly asked: string[] = [];
  readonly home: string;
  readonly releases: string;
  readonly #directory: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  private constructor(directory: string) {
    [this.#directory, this.home] = [directory, `${directory}/home`];
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
      const path = new URL(request.url).pathname;
      this.asked.push(path);
      const content = this.published.get(path);
      if (content === undefined) return new Response(null, { status: 404 });
      return content.endsWith(BREAK) ? breakingOff(content.slice(0, -BREAK.length)) : new Response(content);
    });
    this.releases = `http://127.0.0.1:${this.#server.addr.port}`;
  }

  static async make(): Promise<InstallScene> {
    const scene = new InstallScene(await Deno.makeTempDir({ prefix: "exec-server-install-" }));
    await Deno.mkdir(scene.home);
    return scene;
  }

  /** A release with programs, whose list of sums is right unless a test says otherwise. */
  async publish(programs: Readonly<Record<string, string>>, sums?: string): Promise<void> {
    const lines = await Promise.all(
      Object.entries(programs).map(async ([name, content]) => `${await sumOf(content)}  ${name}\n`),
    );
    for (const [name, content] of Object.entries(programs)) this.published.set(this.#place(name), content);
    this.published.set(this.#place("SHA256SUMS"), sums ?? lines.join(""));
  }

  /**
   * @param without Commands that this machine lacks.
   * @param having Commands that it has besides, as they are here.
   * @param prefix What the shell is started by, such as `timeout 1`.
   * @param shell The shell and its options.
   * @param path What the PATH has behind the commands of this machine.
   * @param piped The script comes on standard input, as from curl.
   */
  async run(
    answers: MachineAnswers,
    args: readonly string[] = [],
    {
      env = {},
      without = [],
      having = [],
      prefix = [],
      shell = ["sh"],
      cwd,
      path = "",
      script = SCRIPT,
      piped = false,
    }: {
      readonly env?: Readonly<Record<string, string>>;
      readonly without?: readonly string[];
      readonly having?: readonly string[];
      readonly prefix?: readonly string[];
      readonly shell?: readonly string[];
      readonly cwd?: string;
      readonly path?: string;
      readonly script?: string;
      readonly piped?: boolean;
    } = {},
  ): Promise<Outcome> {
    const tools = await Deno.makeTempDir({ dir: this.#directory });
    for (const name of [...TRUE_TOOLS, ...having]) {
      if (!without.includes(name)) await Deno.symlink(await found(name), `${tools}/${name}`);
    }
    for (const [name, lines] of Object.entries(falseTools(answers))) {
      await Deno.writeTextFile(`${tools}/${name}`, `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
    }
    const [program, ...before] = [...prefix, await found(shell[0]!), ...shell.slice(1)] as [string, ...string[]];
    const child = new Deno.Command(program, {
      args: [...before, ...(piped ? ["-s", "--"] : [script]), ...args],
      clearEnv: true,
      env: {
        PATH: path === "" ? tools : `${tools}:${path}`,
        HOME: this.home,
        EXEC_SERVER_RELEASES: this.releases,
        ...env,
      },
      stdin: piped ? "piped" : "null",
      stdout: "piped",
      stderr: "piped",
      ...(cwd === undefined ? {} : { cwd }),
    }).spawn();
    // A shell that has found a fault does not read the rest.
    if (piped) await Deno.readFile(script).then((text) => pipeInto(child.stdin, text));
    const { code, stdout, stderr } = await child.output();
    const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return { code, stdout: decode(stdout), stderr: decode(stderr) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
    await Deno.remove(this.#directory, { recursive: true });
  }

  #place(name: string): string {
    return `/download/v${VERSION}/${name}`;
  }
}

function breakingOff(content: string): Response {
  const length = new TextEncoder().encode(content).length;
  return new Response(new Blob([content]).stream(), { headers: { "content-length": `${length + 1}` } });
}

async function pipeInto(stdin: WritableStream<Uint8Array>, text: Uint8Array): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(text);
    await writer.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

function falseTools({ system, machine, libc, bits, ldd, translated, userId }: MachineAnswers): Record<string, string> {
  const answer = (question: string, text: string | undefined) =>
    text === undefined ? "" : `${question}) echo '${text}' ;;`;
  return {
    uname: `case $1 in -s) echo '${system}' ;; -m) echo '${machine}' ;; esac`,
    id: `echo ${userId ?? 1000}`,
    ...(libc === undefined && bits === undefined ? {} : {
      getconf: `case $1 in ${answer("GNU_LIBC_VERSION", libc)} ${answer("LONG_BIT", bits)} *) exit 1 ;; esac`,
    }),
    ...(ldd === undefined ? {} : { ldd: `echo '${ldd}' >&2; exit 1` }),
    ...(translated === undefined ? {} : { sysctl: `echo ${translated}` }),
  };
}

/** @throws {Error} It is nowhere on the PATH. */
async function found(tool: string): Promise<string> {
  for (const place of (Deno.env.get("PATH") ?? "").split(":")) {
    try {
      return await Deno.realPath(`${place}/${tool}`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  throw new Error(`the tests of the install script need ${tool}`);
}
