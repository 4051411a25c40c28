/** Whether this machine has what a back end needs, found out without the sandbox's own tests of it. */
import { landlockVersion } from "../../../lib/linux/sandbox_calls.ts";
import type { BackEndName } from "../../../lib/sandbox/back_end_choice.ts";
import { MIN_LANDLOCK_VERSION } from "../../../lib/sandbox/landlock_version.ts";
import type { User } from "./user.ts";

const TRIALS = {
  bubblewrap: ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "true"],
  unshare: ["unshare", "--user", "--map-current-user", "--keep-caps", "--mount", "--pid", "--fork", "true"],
};

/** @returns What is missing; undefined: nothing. */
export async function backEndMissing(backEnd: BackEndName, { prefix }: User): Promise<string | undefined> {
  if (Deno.build.os !== "linux") return "needs Linux";
  if (backEnd === "landlock") return landlockVersion() < MIN_LANDLOCK_VERSION ? "needs Landlock" : undefined;
  const [program = "", ...args] = [...prefix, ...TRIALS[backEnd]];
  try {
    const { success } = await new Deno.Command(program, { args, stdout: "null", stderr: "null" }).output();
    return success ? undefined : `needs a ${backEnd} that can make user namespaces`;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return `needs ${program}`;
    throw error;
  }
}
