/** The directory of one run of an attempt: what may be written, what must stay as it is, and how to see whether it did. */
import { OTHER_ID, SET_GROUP_ID, type User } from "./user.ts";

/** Names below writable directories that sandboxes keep from being written. */
export const PROTECTED = [".git", ".codex", ".agents", ".aws"];
/** Directories that may be written, from the place. */
export const WRITABLE = ["ws", "ws/repo", "ws/mine", "ws/worktree"];

export interface Secrets {
  /** In a file outside the workspace. */
  readonly outside: string;
  /** In a file that is denied. */
  readonly denied: string;
  /** In the memory of the bystander. */
  readonly memory: string;
}

export class Place implements AsyncDisposable {
  readonly ws: string;
  readonly out: string;
  readonly secrets: Secrets;
  #before = new Map<string, string>();

  /** @param run A name that occurs nowhere else on the machine. */
  private constructor(readonly directory: string, readonly run: string) {
    [this.ws, this.out] = [`${directory}/ws`, `${directory}/out`];
    this.secrets = { outside: secret(), denied: secret(), memory: secret() };
  }

  static create(root: string, user: User): Place {
    const run = `exec-server-escape-${crypto.randomUUID()}`;
    const place = new Place(`${root}/${run.slice(-12)}`, run);
    place.#build(user);
    return place;
  }

  /** To be called when everything is prepared: what is here now is what has to stay. */
  static async remember(places: readonly Place[]): Promise<void> {
    for (const [place, guarded] of await look(places)) place.#before = guarded;
  }

  /** For each place what is not as it was, of all that no sandbox lets be written. */
  static async changes(places: readonly Place[]): Promise<string[][]> {
    return [...await look(places)].map(([place, guarded]) => place.#changes(guarded));
  }

  #changes(after: ReadonlyMap<string, string>): string[] {
    const names = new Set([...this.#before.keys(), ...after.keys()]);
    const changed = [...names].filter((name) => this.#before.get(name) !== after.get(name));
    return changed.sort().map((name) => {
      const verb = !this.#before.has(name) ? "made" : after.has(name) ? "changed" : "removed";
      return `file: ${name} was ${verb}`;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const path of this.elsewhere()) await Deno.remove(path).catch(ignoreMissing);
    await unmountBelow(this.directory);
    await Deno.remove(this.directory, { recursive: true });
  }

  /** Where nothing of this name may appear. */
  elsewhere(): string[] {
    return ["/dev/shm", "/tmp", "/var/tmp"].map((directory) => `${directory}/${this.run}`);
  }

  #build({ uid, gid }: User): void {
    const at = (name: string) => `${this.directory}/${name}`;
    const directories = [
      ...[
        "",
        "ws",
        "ws/.git",
        "ws/.git/hooks",
        "ws/repo",
        "ws/mine",
        "ws/mine/.git",
        "ws/worktree",
        "ws/worktree/real",
      ],
      ...["ws/sealed", "ws/denied", "ws/scratch", "ws/mount", "ws/jail", "out", "out/empty", "out/full"],
    ];
    const files: Record<string, string> = {
      ...{ "ws/.git/config": "[core]\n", "ws/mine/.git/config": "[core]\n", "ws/worktree/real/config": "[core]\n" },
      ...{ "ws/worktree/.git": `gitdir: ${at("ws/worktree/real")}\n`, "ws/sealed/file": "sealed\n" },
      ...{ "ws/denied/secret": `${this.secrets.denied}\n`, "ws/scratch/file": "mine\n" },
      ...{ "out/victim": "untouched\n", "out/secret": `${this.secrets.outside}\n`, "out/full/file": "full\n" },
    };
    for (const name of directories) Deno.mkdirSync(at(name));
    for (const [name, text] of Object.entries(files)) Deno.writeTextFileSync(at(name), text);
    Deno.symlinkSync("../out/victim", at("ws/link"));
    Deno.symlinkSync("../out", at("ws/dlink"));
    if (uid === Deno.uid()) return;
    for (const name of [...directories, ...Object.keys(files)]) Deno.chownSync(at(name), uid, gid);
  }

  /** Puts a program into the workspace. With a group it gets that group when it is run: for root alone. */
  async addProgram(name: string, bytes: Uint8Array, setsGroup = false): Promise<void> {
    const path = `${this.ws}/${name}`;
    await Deno.writeFile(path, bytes);
    if (setsGroup) await Deno.chown(path, null, SET_GROUP_ID);
    await Deno.chmod(path, setsGroup ? 0o2755 : 0o755);
  }

  /** Puts a device node beside the victim and one into the workspace: the source of zeros. For root alone. */
  async addDevices(): Promise<void> {
    for (const path of [`${this.out}/zero`, `${this.ws}/zero`]) {
      const { success } = await new Deno.Command("mknod", { args: ["-m", "666", path, "c", "1", "5"] }).output();
      if (!success) throw new Error(`cannot make the device node ${path}`);
    }
  }

  /** NAME=VALUE words that attempts are told. */
  facts(): Record<string, string> {
    return {
      ...{ ws: this.ws, out: this.out, run: this.run, arch: Deno.build.arch },
      ...{ owner: String(OTHER_ID), group: String(SET_GROUP_ID) },
    };
  }
}

/** For each place: path → all that can be told of what is there except when it was read. */
async function look(places: readonly Place[]): Promise<Map<Place, Map<string, string>>> {
  // Deno knows the time of a change in whole seconds only, by which two changes cannot be told apart.
  const paths = places.flatMap((place) => [place.directory, ...place.elsewhere()]);
  const args = [...paths, "-printf", "%H\\0%p\\0%m %U %G %n %i %y %T@ %C@ %l\\0"];
  const { stdout } = await new Deno.Command("find", { args, stderr: "null" }).output();
  const fields = new TextDecoder().decode(stdout).split("\0");
  const found = new Map(places.map((place) => [place, new Map<string, string>()]));
  const owners = new Map(
    places.flatMap((place) => [place.directory, ...place.elsewhere()].map((path) => [path, place])),
  );
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const [start, path, description] = fields.slice(index) as [string, string, string];
    const place = owners.get(start)!;
    const name = start === place.directory ? path.slice(start.length) : path;
    if (isGuarded(name)) found.get(place)!.set(name || "/", `${description} ${contentOf(path, description)}`);
  }
  for (const [place, guarded] of found) {
    if (!guarded.has("/")) throw new Error(`find did not look into ${place.directory}`);
  }
  return found;
}

/**
 * Takes away what attempts have mounted where nothing confined them.
 *
 * @throws {Error} If that is impossible: whoever removes everything below must not get into what is mounted there.
 */
async function unmountBelow(directory: string): Promise<void> {
  const mounted = async () => {
    const lines = (await Deno.readTextFile("/proc/self/mountinfo")).split("\n");
    return lines.map((line) => line.split(" ")[4] ?? "").filter((path) => path.startsWith(`${directory}/`)).reverse();
  };
  for (const path of await mounted()) await new Deno.Command("umount", { args: ["--lazy", path] }).output();
  if ((await mounted()).length > 0) throw new Error(`something is still mounted below ${directory}`);
}

/** @param path From the place, with a slash in front. */
function isGuarded(path: string): boolean {
  if (!path.startsWith("/ws/") && path !== "/ws") return true;
  const names = [...WRITABLE.flatMap((root) => PROTECTED.map((name) => `${root}/${name}`)), ...GUARDED];
  return names.some((name) => path === `/${name}` || path.startsWith(`/${name}/`));
}

const GUARDED = ["ws/sealed", "ws/denied", "ws/worktree/real"];

/** @param description What `find` says; only files have content. */
function contentOf(path: string, description: string): string {
  return description.split(" ")[5] === "f" ? Deno.readTextFileSync(path) : "";
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

function secret(): string {
  return `secret-${crypto.randomUUID()}`;
}
