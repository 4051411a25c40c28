import { ExecError } from "../errors.ts";
import { toBytes } from "./byte_path.ts";
import type { BytePath } from "./policy.ts";
import type { ConfinedProgram, PreparedLaunch } from "./sandbox.ts";
import type { SeatbeltPolicy } from "./seatbelt_policy.ts";

/** By its whole path: whoever can change what lies there is root already. */
export const SANDBOX_EXEC = "/usr/bin/sandbox-exec";
const ENV = "/usr/bin/env";

/**
 * Longest policy with its parameters, in bytes. All words and variables of a command together may have 1 MiB (ARG_MAX of
 * macOS); half of it is left for the program's own.
 */
const MAX_POLICY_BYTES = 512 * 1024;

/**
 * Names of variables that the system's own libraries listen to, in sandbox-exec as in any other program: they could make
 * it load code or write files before it is confined. The program is to have them all the same.
 */
const HEEDED_BY_THE_SYSTEM = /^(_|DYLD_|LD_|Malloc|malloc|OBJC_|OS_|LIBDISPATCH_|XPC_|ASL_|CF|NS|SANDBOX|LIBC)/;

/** Why a policy cannot be handed over; undefined: it can. */
export function policyObstacle({ text, parameters }: SeatbeltPolicy): string | undefined {
  const values = [...parameters].map(([name, value]) => name.length + value.length + "-D=".length + 1);
  if (values.reduce((sum, bytes) => sum + bytes, text.length) > MAX_POLICY_BYTES) {
    return `there are more paths to watch than fit into a command line: ${parameters.size}`;
  }
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for (const value of parameters.values()) {
    try {
      decoder.decode(toBytes(value));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return "a path is no UTF-8, and no file here has such a name";
    }
  }
  return undefined;
}

/** The command line that runs another one under a policy; bytes. */
export function underPolicy({ text, parameters }: SeatbeltPolicy, command: readonly string[]): string[] {
  const definitions = [...parameters].map(([name, value]) => `-D${name}=${value}`);
  return [SANDBOX_EXEC, "-p", text, ...definitions, "--", ...command];
}

/**
 * A program under a policy. What is not found is sandbox-exec's to say: `execvp() of 'NAME' failed`, with exit code 71.
 *
 * @param directory Where it begins.
 * @throws {ExecError} `sandboxUnavailable` for what sandbox-exec cannot do: give another argv[0].
 */
export function seatbeltLaunch(policy: SeatbeltPolicy, program: ConfinedProgram, directory: BytePath): PreparedLaunch {
  const { file, argv: [name, ...rest], env } = program;
  if (name !== file) throw unavailable("on macOS a program in a sandbox has its own name as argv[0]");
  const isHeeded = (variable: string) => HEEDED_BY_THE_SYSTEM.test(variable);
  const late = env.filter(isHeeded);
  if (late.length > 0 && file.includes("=")) throw unavailable("its program cannot be told from its variables");
  const argv = underPolicy(policy, [...(late.length > 0 ? [ENV, ...late] : []), file, ...rest]);
  return {
    path: SANDBOX_EXEC,
    argv,
    env: env.filter((variable) => !isHeeded(variable)),
    directory,
    descriptors: [],
    started() {},
    ended: () => undefined,
    [Symbol.dispose]() {},
  };
}

function unavailable(reason: string): ExecError {
  return new ExecError("sandboxUnavailable", `sandbox unavailable: ${reason}`);
}
