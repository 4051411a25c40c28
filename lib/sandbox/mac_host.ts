/** What is asked of a Mac, and of the machine that stands in for one in tests. */

import { fromText, toText } from "./byte_path.ts";
import type { FileTree } from "./file_tree.ts";
import { macTree } from "./mac_tree.ts";
import type { BytePath } from "./policy.ts";
import type { PreparedLaunch } from "./sandbox.ts";
import { SANDBOX_EXEC } from "./seatbelt_launch.ts";
import type { TrialOutcome } from "./self_test.ts";

export interface MacHost {
  readonly tree: FileTree;
  hasSandboxExec(): boolean;
  /** The directory of this user in which the system's services for the network keep what they learn; null: none. */
  networkCache(): Promise<BytePath | null>;
  /** Runs it to its end, with empty input; the signal kills it. */
  run(launch: PreparedLaunch, signal: AbortSignal): Promise<TrialOutcome>;
}

export const thisMac: MacHost = {
  tree: macTree,

  hasSandboxExec() {
    return macTree.kindOf(SANDBOX_EXEC) === "file";
  },

  async networkCache() {
    const launch = new Deno.Command("/usr/bin/getconf", { args: ["DARWIN_USER_CACHE_DIR"], clearEnv: true });
    const { success, stdout } = await launch.output();
    const path = new TextDecoder().decode(stdout).trim();
    return success && path.startsWith("/") ? fromText(Deno.realPathSync(path)) : null;
  },

  async run({ path, argv, env, directory = "/" }, signal) {
    const variables = env.map((variable) => toText(variable).split(/=(.*)/s).slice(0, 2) as [string, string]);
    const command = new Deno.Command(toText(path), {
      args: argv.slice(1).map(toText),
      env: Object.fromEntries(variables),
      clearEnv: true,
      cwd: toText(directory),
      signal,
    });
    const { code, stdout, stderr } = await command.output();
    const decoder = new TextDecoder();
    return { exitCode: code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  },
};
