import * as calls from "../../linux/sandbox_calls.ts";
import { EACCES, ENOENT, ENOTDIR } from "../../linux/errno.ts";
import type { BytePath } from "../policy.ts";
import type { ProgramPlan } from "./launch_plan.ts";
import { must } from "./failure.ts";

/** musl's path for an environment without PATH, which is what the reference uses. */
const DEFAULT_PATH = "/usr/local/bin:/bin:/usr/bin";
const HERE = calls.cBytes(".");

/**
 * Enters the program's directory, or `/` if it is not in the view or cannot be entered.
 *
 * @returns Where we are.
 */
export function enterDirectory({ cwd }: ProgramPlan): BytePath {
  const result = calls.changeDirectory(calls.cBytes(cwd));
  const isClosed = result === -ENOENT || result === -ENOTDIR || result === -EACCES;
  if (isClosed) must("chdir /", calls.changeDirectory(calls.cBytes("/")));
  else must(`chdir ${cwd}`, result);
  // What was entered may be a place that is covered by now; the name has to lead to it.
  must("openat2 .", calls.openWithoutLinks(calls.AT_FDCWD, HERE, calls.O_PATH));
  return isClosed ? "/" : cwd;
}

/** The variables with one that says where the program begins. */
export function withWorkingDirectory(env: readonly string[], directory: BytePath): readonly string[] {
  const variable = `PWD=${directory}`;
  const at = env.findIndex((one) => one.startsWith("PWD="));
  return at === -1 ? [...env, variable] : env.with(at, variable);
}

/**
 * Runs the program in place of this one, found as `execvp` finds it.
 *
 * @returns Only if it could not be run: the error number.
 */
export function runProgram({ file, argv, env }: ProgramPlan): number {
  const args = calls.cStrings(argv);
  const variables = calls.cStrings(env);
  if (file === "") return ENOENT;
  if (file.includes("/")) return -calls.execute(calls.cBytes(file), args, variables);
  const path = env.find((variable) => variable.startsWith("PATH="))?.slice("PATH=".length) ?? DEFAULT_PATH;
  let last = ENOENT;
  let isDenied = false;
  for (const directory of path.split(":")) {
    const error = -calls.execute(calls.cBytes(directory === "" ? file : `${directory}/${file}`), args, variables);
    if (error === EACCES) isDenied = true;
    else if (error !== ENOENT && error !== ENOTDIR) return error;
    last = error;
  }
  return isDenied ? EACCES : last;
}
