/**
 * The program of a terminal that is to see another argv[0], looked up as the reference does it: with a search that gives
 * no reasons, and nothing asked about what is not searched for, so that there what exec says is the answer.
 */
import { ExecError } from "../errors.ts";
import type { LaunchSpec } from "./child.ts";
import { isAbsolute, join, normalise, splitSearchPath } from "./path_bytes.ts";
import type { AccessProbe } from "./program.ts";
import { beginsWithDots, Files, type TerminalProgram, terminalStart } from "./terminal_program.ts";

const encoder = new TextEncoder();

/**
 * Finds the program of a terminal for which `spec.arg0` is set.
 *
 * @param home Where it starts if `spec.cwd` is no directory and its environment has no HOME.
 * @param workingDirectory Ours: where a HOME begins that is a relative path.
 * @returns A path for `startFile`: absolute if it was searched for, otherwise as it was given.
 * @throws {ExecError} `spawnFailed` with the reference's sentence.
 */
export function findRenamedProgram(
  spec: LaunchSpec,
  home: () => string,
  workingDirectory: () => string,
  probe: AccessProbe,
): TerminalProgram {
  const files = new Files(probe);
  const { name, cwd } = terminalStart(spec, home, files);
  if (isAbsolute(name) || beginsWithDots(name)) return { path: name, cwd };

  const path = spec.env.get("PATH");
  if (path === undefined) throw new ExecError("spawnFailed", "Unable to resolve the PATH");
  if (cwd.length === 0) throw new ExecError("spawnFailed", "cannot make an empty path absolute");
  const base = normalise(cwd, () => encoder.encode(workingDirectory()));
  for (const entry of splitSearchPath(encoder.encode(path))) {
    const candidate = join(join(base, entry), name);
    if (files.isExecutable(candidate) && !files.isDirectory(candidate)) return { path: candidate, cwd };
  }
  throw new ExecError("spawnFailed", `Unable to find executable ${spec.argv[0]} in PTY PATH`);
}
