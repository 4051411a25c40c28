/**
 * Where servers without a guard may be told anything: inside bubblewrap as an ordinary user without rights, `/`
 * read-only, no network but a loopback of its own. The one place to write is a directory in memory, of bounded size and
 * gone with the last process. Without all that nothing is run.
 */

/** Nobody's number: nothing outside belongs to it. Used where we are root, which nobody confined may stay. */
const USER = "54321";
/** Most bytes that all files together may have. */
const ROOM_BYTES = 256 * 1024 * 1024;
/** Most units of 512 or 1024 bytes, as the shell has it, that one file may have; beyond it is EFBIG, not a signal. */
const FILE_UNITS = 65_536;

/** It cannot be had here; the message says why. */
export class NoConfinement extends Error {
  override readonly name = "NoConfinement";
}

export class Confinement implements AsyncDisposable {
  /** The directory as seen from inside and, empty, from outside. */
  readonly directory: string;
  /** The place to write, inside only. */
  readonly work: string;
  readonly #programs = new Map<string, string>();

  private constructor(directory: string, readonly nests: boolean) {
    this.directory = directory;
    this.work = `${directory}/work`;
  }

  /**
   * @param nests Whether others like it can be made inside, by what is tested there.
   * @throws {NoConfinement} If it cannot be had here.
   */
  static async create({ nests = false }: { readonly nests?: boolean } = {}): Promise<Confinement> {
    if (Deno.build.os !== "linux") throw new NoConfinement(`bubblewrap is for Linux, this is ${Deno.build.os}`);
    const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "exec-server-confined-" }));
    const confinement = new Confinement(directory, nests);
    try {
      await Deno.chmod(directory, 0o755); // whoever is confined must get to it
      await confinement.#probe();
      return confinement;
    } catch (error) {
      await confinement[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Shows a file or directory from outside, read-only, whatever its parents forbid. @returns Its path inside. */
  show(name: string, path: string): string {
    this.#programs.set(name, path);
    return `${this.directory}/${name}`;
  }

  /** The same path as seen from inside, if it is shown; else as it is, read-only. */
  inside(path: string): string {
    for (const [name, shown] of this.#programs) {
      if (path === shown || path.startsWith(`${shown}/`)) return `${this.directory}/${name}${path.slice(shown.length)}`;
    }
    return path;
  }

  /** The command line that runs words of the inside. Its environment is what `env` says and nothing else. */
  words(words: readonly string[], env: Readonly<Record<string, string>> = {}): string[] {
    const isRoot = Deno.uid() === 0;
    const variables = { PATH: "/usr/bin:/bin", HOME: this.work, TMPDIR: this.work, ...env };
    return [
      "bwrap",
      ...["--die-with-parent", "--new-session", "--clearenv"],
      ...["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"],
      ...(isRoot ? [] : ["--unshare-user"]),
      ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
      // Servers keep there what they confine others with.
      ...(this.nests ? ["--perms", "1777", "--size", String(ROOM_BYTES), "--tmpfs", "/tmp"] : []),
      ...["--perms", "0755", "--size", String(ROOM_BYTES), "--tmpfs", this.directory],
      ...["--perms", "0777", "--dir", this.work],
      ...[...this.#programs].flatMap(([name, path]) => ["--ro-bind", path, `${this.directory}/${name}`]),
      ...Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value]),
      ...["--chdir", this.work, "--cap-drop", "ALL"],
      ...(isRoot ? BECOME_ORDINARY_CAPABILITIES.flatMap((name) => ["--cap-add", name]) : []),
      ...(isRoot && this.nests ? SHOW_PROCESSES : []),
      ...(isRoot ? BECOME_ORDINARY : []),
      ...["/bin/sh", "-c", `umask 022; trap '' XFSZ; ulimit -f ${FILE_UNITS} && exec "$@"`, "sh", ...words],
    ];
  }

  /** Nothing was ever in it, as seen from outside. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.directory);
  }

  async #probe(): Promise<void> {
    const [program, ...args] = this.words(["id", "-u"]) as [string, ...string[]];
    let output: Deno.CommandOutput;
    try {
      output = await new Deno.Command(program, { args, stdin: "null" }).output();
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) {
        throw new NoConfinement("there is no bwrap (bubblewrap) in the search path", { cause: error });
      }
      throw error;
    }
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
    if (!output.success) throw new NoConfinement(`bwrap cannot confine: ${text(output.stderr)}`);
    if (text(output.stdout) === "0") throw new NoConfinement("inside bwrap the user is still root");
  }
}

/**
 * As root, bubblewrap covers parts of /proc, and a kernel lets nobody mount a whole one in a namespace below where only
 * parts can be seen. An ordinary user has no rights to what is covered.
 */
const SHOW_PROCESSES = [
  ...["--cap-add", "CAP_SYS_ADMIN", "--"],
  ...["/bin/sh", "-c", 'mount -t proc -o nosuid,nodev,noexec proc /proc && exec "$@"', "sh"],
];

/** Needs three capabilities and keeps none. */
const BECOME_ORDINARY_CAPABILITIES = ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"];
const BECOME_ORDINARY = [
  ...["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups"],
  ...["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--"],
];

/**
 * To be called inside before anything else: looks at what the kernel says instead of trusting the command line.
 *
 * @param rooms The directory of the confinement, and others that are in memory.
 * @throws {NoConfinement} If this process could change anything elsewhere, or reach a network.
 */
export function assertConfined(...rooms: readonly string[]): void {
  const status = Deno.readTextFileSync("/proc/self/status");
  const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1];
  if (field("Uid")?.split(/\s+/).includes("0") !== false) throw new NoConfinement("the user is root");
  for (const set of ["CapEff", "CapPrm"]) {
    if (!/^0+$/.test(field(set) ?? "")) throw new NoConfinement(`capabilities are left: ${set} ${field(set)}`);
  }
  if (field("NoNewPrivs") !== "1") throw new NoConfinement("privileges could be gained");
  const networks = Deno.networkInterfaces().filter(({ name }) => name !== "lo"); // those that have addresses
  if (networks.length > 0) throw new NoConfinement(`there is a network: ${networks.map(({ name }) => name).join()}`);
  const elsewhere = writableMounts().filter((place) => !rooms.includes(place) && !/^\/(dev|proc)(\/|$)/.test(place));
  if (elsewhere.length > 0) throw new NoConfinement(`could write elsewhere: ${elsewhere.join()}`);
}

function writableMounts(): string[] {
  const mounts = Deno.readTextFileSync("/proc/self/mountinfo").split("\n").filter((line) => line !== "");
  return mounts.map((line) => line.split(" ")).filter((fields) => fields[5]!.split(",").includes("rw")).map((fields) =>
    fields[4]!
  );
}
