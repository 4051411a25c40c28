import { localProgram } from "../local_program.ts";
import { TarFilter } from "./tar_filter.ts";
import { CopyError } from "./target.ts";

/** What is kept of tar's complaints, from the end. */
const MAX_STDERR_CHARS = 8192;

/** Of them in one sentence. */
const MAX_SHOWN_LINES = 3;

/** Neither options of the user's for their own archives, nor macOS's extra files. */
const ENVIRONMENT = { TAR_OPTIONS: "", COPYFILE_DISABLE: "1" };

/** Everything in a directory, names that begin with a dash included. */
export function packArguments(directory: string): [string, ...string[]] {
  return ["tar", "-C", directory, "-cf", "-", "."];
}

/** Permission bits and times as in the archive, owners not. */
export function unpackArguments(directory: string, archive = "-"): [string, ...string[]] {
  return ["tar", "-C", directory, "-xpof", archive];
}

/**
 * The tar of this machine: none, one that unpacks a directory through a link which has its name (busybox's does), or one
 * that does not.
 */
export async function localTar(): Promise<"none" | "followsLinks" | "safe"> {
  try {
    const { stdout } = await localProgram("tar", { args: ["--version"], stdin: "null", stderr: "null" }).output();
    return /busybox/i.test(new TextDecoder().decode(stdout)) ? "followsLinks" : "safe";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return "none";
    throw error;
  }
}

/** Whether this machine has tar. */
export async function hasLocalTar(): Promise<boolean> {
  return await localTar() !== "none";
}

/**
 * Adds what is in a directory to another one, which keeps its own permission bits. Directories in it are added to, all
 * else is replaced; links are, whatever they lead to.
 *
 * @returns Complaints about what could not be read.
 * @throws {CopyError} In tar's own words.
 */
export async function addLocally(from: string, to: string, signal: AbortSignal): Promise<string[]> {
  await using packing = LocalTar.pack(from);
  await using unpacking = LocalTar.unpack(to);
  const filter = new TarFilter({}, { withoutRoot: true });
  for await (const piece of packing.archive) {
    signal.throwIfAborted();
    for (const part of filter.push(piece)) await unpacking.write(part);
  }
  const complaints = await packing.packed();
  await unpacking.finish();
  return complaints;
}

/** A tar of this machine; it ends with the scope at the latest. */
export class LocalTar implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #stderr: Promise<string>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array> | undefined;

  private constructor([program, ...args]: [string, ...string[]], input: boolean) {
    this.#child = localProgram(program, {
      args,
      env: ENVIRONMENT,
      stdin: input ? "piped" : "null",
      stdout: input ? "null" : "piped",
      stderr: "piped",
    }).spawn();
    this.#stderr = tail(this.#child.stderr);
    this.#writer = input ? this.#child.stdin.getWriter() : undefined;
  }

  static pack(directory: string): LocalTar {
    return new LocalTar(packArguments(directory), false);
  }

  static unpack(directory: string): LocalTar {
    return new LocalTar(unpackArguments(directory), true);
  }

  /** The archive that is being made. */
  get archive(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#child.stdout;
  }

  /** @throws {CopyError} With tar's own words, if it reads no more. */
  async write(bytes: Uint8Array): Promise<void> {
    try {
      await this.#writer!.write(bytes);
    } catch (error) {
      if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
      await this.#child.status;
      throw unpackFailure(await this.#stderr, "it ended early");
    }
  }

  /** Waits until everything is unpacked. @throws {CopyError} If something was not. */
  async finish(): Promise<void> {
    await this.#writer!.close();
    const { success, code, signal } = await this.#child.status;
    if (!success) throw unpackFailure(await this.#stderr, signal ?? `exit code ${code}`);
  }

  /**
   * Waits until everything is packed.
   *
   * @returns Complaints about what could not be read.
   * @throws {CopyError} If tar was ended.
   */
  async packed(): Promise<string[]> {
    const { code, signal } = await this.#child.status;
    if (signal !== null) throw new CopyError(`tar was ended by ${signal}`);
    return code === 0 ? [] : lines(await this.#stderr, `tar ended with exit code ${code}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it has ended
    }
    await this.#child.status;
    await this.#writer?.abort().catch(() => {});
    if (this.#writer === undefined && !this.#child.stdout.locked) await this.#child.stdout.cancel();
    await this.#stderr;
  }
}

/** An unpacking tar failed, here or on the other side. */
export function unpackFailure(stderr: string, otherwise: string): CopyError {
  const said = lines(stderr, otherwise);
  // The first line says where it began, the last ones why.
  const shown = said.length <= MAX_SHOWN_LINES ? said : [said[0], "…", ...said.slice(1 - MAX_SHOWN_LINES)];
  return new CopyError(`the tree could not be unpacked: ${shown.join("; ")}`);
}

/** What tar said, without its last word that it failed. */
export function lines(stderr: string, otherwise: string): string[] {
  const said = stderr.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const informative = said.filter((line) => !/exiting with failure status|error exit delayed/i.test(line));
  return informative.length > 0 ? informative : said.length > 0 ? said : [otherwise];
}

async function tail(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = "";
  for await (const piece of stream.pipeThrough(new TextDecoderStream())) text = (text + piece).slice(-MAX_STDERR_CHARS);
  return text;
}
