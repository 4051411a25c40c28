import { cString, cStringArray } from "../../linux/cstring.ts";
import { realPath } from "../../linux/file_calls.ts";
import { type DescriptorSource, posixSpawn } from "../../linux/posix_spawn.ts";
import { fromBytes, fromText, toBytes } from "../../sandbox/byte_path.ts";
import type { ConfinedProgram, PreparedLaunch } from "../../sandbox/sandbox.ts";
import type { LaunchSpec } from "../child.ts";
import { join } from "../path_bytes.ts";
import { checkStrings } from "../program.ts";
import { Files, terminalDirectory } from "../terminal_program.ts";
import { homeDirectory, probe, withShell } from "./machine.ts";
import { spawnError } from "./spawn_error.ts";
import { sortedVariables } from "./variables.ts";

const CURRENT = new TextEncoder().encode(".");
const ROOT = cString("/");

/**
 * What is to run in a confinement, and where. The program itself is not looked for: that has to be done inside.
 *
 * @throws {ExecError} As for every start, where it cannot be handed to the system, or has no directory.
 */
export function confinedProgram(spec: LaunchSpec): ConfinedProgram {
  const { cwd } = spec.tty ? terminalDirectory(spec, homeDirectory, new Files(probe)) : spec;
  checkStrings(spec, cwd);
  const notEntered = probe(join(cwd, CURRENT), "exists");
  if (notEntered !== 0) throw spawnError(notEntered);
  const real = realPath(cString(cwd));
  if (typeof real === "number") throw spawnError(-real);
  const [file, ...rest] = spec.argv;
  return {
    file: fromText(file!),
    argv: [spec.arg0 ?? file!, ...rest].map(fromText),
    env: sortedVariables(spec.tty ? withShell(spec.env) : spec.env).map(fromText),
    cwd: fromBytes(real),
    onTerminal: spec.tty,
  };
}

/** Starts what stands in the place of the program: its process id, or a negated error number. */
export function startPrepared(prepared: PreparedLaunch, descriptors: readonly DescriptorSource[]): number {
  const pid = prepared.handOver?.(descriptors) ?? posixSpawn({
    path: cString(toBytes(prepared.path)),
    argv: cStringArray(prepared.argv.map(toBytes)),
    env: cStringArray(prepared.env.map(toBytes)),
    directory: ROOT,
    descriptors: [...descriptors, ...prepared.descriptors],
  });
  if (pid > 0) prepared.started(pid);
  return pid;
}
