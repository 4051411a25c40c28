import { Buffer } from "node:buffer";
import { CompileError, outputOf } from "./step.ts";

/** The deno that embeds, which has to be of the same version as the run-time base. */
export interface Embedder {
  readonly deno: string;
  readonly version: string;
  /** The base to be used; by default Deno fetches one. */
  readonly base: string | undefined;
}

/** @throws {CompileError} What the variables name is not there or does not fit. */
export async function embedder(signal: AbortSignal): Promise<Embedder> {
  const base = Deno.env.get("DENORT_BIN") || undefined;
  const deno = Deno.env.get("DENO_BIN") || Deno.execPath();
  const version = deno !== Deno.execPath() ? await versionOf(deno, signal) : Deno.version.deno;
  if (base !== undefined) await checkBase(base, version);
  return { deno, version, base };
}

async function versionOf(deno: string, signal: AbortSignal): Promise<string> {
  const { stdout } = await outputOf(deno, ["--version"], signal);
  const version = /^deno (\S+)/.exec(stdout)?.[1];
  if (version === undefined) throw new CompileError(`DENO_BIN: ${deno} is no deno`);
  return version;
}

/** A base of another version makes an executable that does not start; and one for another system cannot be tried. */
async function checkBase(path: string, version: string): Promise<void> {
  const bytes = await Deno.readFile(path).catch((error) => {
    throw new CompileError(`DENORT_BIN: ${error.message}`);
  });
  // What it says of itself to servers.
  if (!Buffer.from(bytes.buffer).includes(`Deno/${version}`)) {
    throw new CompileError(`DENORT_BIN: ${path} is no run-time base of Deno ${version}`);
  }
}
