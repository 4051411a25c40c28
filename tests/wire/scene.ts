/** What a recording does outside the protocol: makes, changes and looks at files in the scenario's own directory. */
import type { Bindings } from "./bindings.ts";
import type { Guard } from "./guard.ts";
import type { FileCheck, LstatCheck, Setup, WriteSetup } from "./lines.ts";
import { Mismatch, show } from "./mismatch.ts";

export class Scene implements AsyncDisposable {
  readonly #guard: Guard;
  readonly #bindings: Bindings;
  readonly #sockets: Deno.Listener[] = [];
  readonly #readers: Deno.ChildProcess[] = [];

  constructor(guard: Guard, bindings: Bindings) {
    this.#guard = guard;
    this.#bindings = bindings;
  }

  /** Does what a `setup` line says. @throws {Unsafe} Before it does anything, if that is outside of the directory. */
  async setUp(recorded: Setup): Promise<void> {
    const setup = await this.#filled(recorded);
    await this.#guard.checkPath(
      setup.op === "rename" ? setup.from : setup.op === "writeRawName" ? setup.dirPath : setup.path,
    );
    if (setup.op === "mkdir") await this.#makeDirectory(setup.path, setup.mode);
    else if (setup.op === "write") await this.#write(setup);
    else if (setup.op === "append") await Deno.writeTextFile(setup.path, setup.text, { append: true, create: false });
    else if (setup.op === "sparse") await this.#sparse(setup.path, setup.size);
    else if (setup.op === "symlink") {
      this.#guard.checkLink(setup.path, setup.target);
      await Deno.symlink(setup.target, setup.path);
    } else if (setup.op === "hardlink") {
      await this.#guard.checkPath(setup.to);
      await Deno.link(setup.to, setup.path);
    } else if (setup.op === "rename") {
      await this.#guard.checkPath(setup.to);
      await Deno.rename(setup.from, setup.to);
    } else if (setup.op === "remove") await Deno.remove(setup.path, { recursive: true });
    else if (setup.op === "chown") await Deno.chown(setup.path, setup.uid, setup.gid);
    else if (setup.op === "fifo") await run("mkfifo", setup.path);
    else if (setup.op === "chardev") await run("mknod", setup.path, "c", `${setup.major}`, `${setup.minor}`);
    else if (setup.op === "socket") this.#sockets.push(Deno.listen({ transport: "unix", path: setup.path }));
    else if (setup.op === "readFifo") this.#readers.push(spawn("cat", setup.path));
    else if (setup.op === "writeRawName") await this.#writeRawName(setup);
    else throw new Error(`cannot set up ${JSON.stringify(recorded)}`);
  }

  /** @throws {Mismatch} If the files are not as a `check` line says. */
  async check(recorded: FileCheck): Promise<void> {
    const check = await this.#filled(recorded);
    const wanted = check.op === "content" ? check.text : check.op === "tree" ? check.entries : null;
    const found = check.op === "content"
      ? await Deno.readTextFile(check.path)
      : check.op === "tree"
      ? await tree(check.path, "")
      : check.op === "absent"
      ? await kindOrNull(check.path)
      : await statusDifference(check);
    if (show(wanted) !== show(found)) {
      throw new Mismatch(`${check.op} of ${check.path}: expected ${show(wanted)}, got ${show(found)}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.close();
    for (const reader of this.#readers) {
      try {
        reader.kill("SIGKILL");
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // it has read to the end
      }
      await reader.status;
    }
  }

  async #filled<T>(recorded: T): Promise<T> {
    return JSON.parse(await this.#bindings.fill(JSON.stringify(recorded)));
  }

  async #makeDirectory(path: string, mode: string): Promise<void> {
    await Deno.mkdir(path, { recursive: true });
    await Deno.chmod(path, parseInt(mode, 8));
  }

  async #write({ path, text, base64, mode, mtimeMs }: WriteSetup): Promise<void> {
    await Deno.writeFile(path, base64 === undefined ? new TextEncoder().encode(text) : Uint8Array.fromBase64(base64));
    await Deno.chmod(path, parseInt(mode, 8));
    if (mtimeMs !== undefined) await Deno.utime(path, mtimeMs / 1000, mtimeMs / 1000);
  }

  async #sparse(path: string, size: number): Promise<void> {
    using file = await Deno.open(path, { write: true, create: true });
    await file.truncate(size);
  }

  /** Deno cannot name such a file; a shell can. */
  async #writeRawName({ dirPath, nameHex, text }: Extract<Setup, { op: "writeRawName" }>): Promise<void> {
    const octal = Array.from(Uint8Array.fromHex(nameHex), (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
    await run("/bin/sh", "-c", `cd -- "$1" && printf %s "$2" > "$(printf '${octal}')"`, "sh", dirPath, text);
  }
}

function spawn(program: string, ...args: string[]): Deno.ChildProcess {
  return new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "inherit" }).spawn();
}

async function run(program: string, ...args: string[]): Promise<void> {
  const { success } = await spawn(program, ...args).status;
  if (!success) throw new Error(`${program} failed for ${args.join(" ")}`);
}

async function kindOrNull(path: string): Promise<string | null> {
  try {
    return kind(await Deno.lstat(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

function kind({ isFile, isDirectory, isSymlink }: Deno.FileInfo): string {
  return isFile ? "file" : isDirectory ? "directory" : isSymlink ? "symlink" : "special";
}

/** null, or what is recorded and what is found instead. */
async function statusDifference({ path, op: _, ...wanted }: LstatCheck): Promise<unknown> {
  const info = await Deno.lstat(path);
  const status: Readonly<Record<string, unknown>> = {
    kind: kind(info),
    mode: (info.mode! & 0o7777).toString(8),
    size: info.size,
    nlink: info.nlink,
    target: info.isSymlink ? await Deno.readLink(path) : undefined,
  };
  const found = Object.fromEntries(Object.keys(wanted).map((name) => [name, status[name]]));
  return show(wanted) === show(found) ? null : { wanted, found };
}

/** All names below, `/` after directories and `@` after links. */
async function tree(path: string, prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name, isDirectory, isSymlink } of Deno.readDir(path)) {
    names.push(`${prefix}${name}${isDirectory ? "/" : isSymlink ? "@" : ""}`);
    if (isDirectory) names.push(...await tree(`${path}/${name}`, `${prefix}${name}/`));
  }
  return names.sort();
}
