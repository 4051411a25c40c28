import { Buffer } from "node:buffer";
import { CompileError, outputOf } from "./step.ts";

/** The deno that embeds, which has to be of the same version as the run-time base. */
export interface Embedder {
  readonly deno: string;
  readonly version: string;
  /** The base to be used; by default Deno fetches one. */
  readonly base: string | undefined;
}

/**
 * @param targets What is to be made; where `DENORT_BIN` is set, of one kind.
 * @throws {CompileError} What the variables name is not there or does not fit.
 */
export async function embedder(targets: readonly string[], signal: AbortSignal): Promise<Embedder> {
  const base = Deno.env.get("DENORT_BIN") || undefined;
  const deno = Deno.env.get("DENO_BIN") || Deno.execPath();
  const version = deno !== Deno.execPath() ? await versionOf(deno, signal) : Deno.version.deno;
  if (base !== undefined) await checkBase(base, version, targets);
  return { deno, version, base };
}

async function versionOf(deno: string, signal: AbortSignal): Promise<string> {
  const { stdout } = await outputOf(deno, ["--version"], signal);
  const version = /^deno (\S+)/.exec(stdout)?.[1];
  if (version === undefined) throw new CompileError(`DENO_BIN: ${deno} is no deno`);
  return version;
}

/** A base of another version, or for another target, makes an executable that does not start. */
async function checkBase(path: string, version: string, targets: readonly string[]): Promise<void> {
  const bytes = await Deno.readFile(path).catch((error) => {
    throw new CompileError(`DENORT_BIN: ${error.message}`);
  });
  // What it says of itself to servers.
  if (!Buffer.from(bytes.buffer).includes(`Deno/${version}`)) {
    throw new CompileError(`DENORT_BIN: ${path} is no run-time base of Deno ${version}`);
  }
  const [system, machine] = kindOf(bytes) ?? [];
  for (const target of targets) {
    if (system !== undefined && target.startsWith(`${machine}-`) && target.includes(system)) continue;
    throw new CompileError(`DENORT_BIN: ${path} is no run-time base for ${target}`);
  }
}

type Machines = Readonly<Record<number, string>>;
const ELF_MACHINES: Machines = { 62: "x86_64", 183: "aarch64" };
const MACH_O_MACHINES: Machines = { 0x01000007: "x86_64", 0x0100000c: "aarch64" };
const PE_MACHINES: Machines = { 0x8664: "x86_64", 0xaa64: "aarch64" };

/** In the words of the targets; undefined for what is no executable file of 64 bits, least significant byte first. */
function kindOf(bytes: Uint8Array): [system: string, machine: string | undefined] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 64) return undefined;
  // "\x7fELF", 64 bits, least significant byte first.
  if (view.getUint32(0) === 0x7f454c46 && view.getUint16(4) === 0x0201) {
    return ["linux", ELF_MACHINES[view.getUint16(18, true)]];
  }
  if (view.getUint32(0, true) === 0xfeedfacf) return ["apple", MACH_O_MACHINES[view.getUint32(4, true)]];
  // "MZ", and where it says that it is, "PE\0\0".
  const header = view.getUint32(60, true);
  if (view.getUint16(0) !== 0x4d5a || header + 6 > bytes.length || view.getUint32(header) !== 0x50450000) {
    return undefined;
  }
  return ["windows", PE_MACHINES[view.getUint16(header + 4, true)]];
}
