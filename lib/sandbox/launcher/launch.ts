/**
 * From a plan to the program, in this very process: each step takes something away, and the first one that fails ends
 * it all. Landlock, filters and the loss of rights count for the calling thread only, which is the one that `execve`
 * leaves over.
 */

import * as calls from "../../linux/sandbox_calls.ts";
import { isPairedSocket } from "../../linux/socket_calls.ts";
import { notRun } from "../not_run.ts";
import { must } from "./failure.ts";
import { buildNetworkRuleset, buildRuleset } from "./landlock_domain.ts";
import type { LaunchPlan } from "./launch_plan.ts";
import { enterView } from "./mount_view.ts";
import { readPlan } from "./plan_file.ts";
import { receiveLaunch } from "./receive_launch.ts";
import { dropPrivileges } from "./privileges.ts";
import { enterDirectory, runProgram, withWorkingDirectory } from "./program.ts";

/** The exit code of a launch that ended before the program was tried. */
const NOT_CONFINED = 126;

const FIRST_PRIVATE_DESCRIPTOR = 3;
const SIGKILL = 9;
const SIGSTOP = 19;
const LAST_SIGNAL = 64;
const ERROR_OUTPUT = 2;

/** @param args What the launcher was started with: the number of a descriptor, see {@linkcode planOf}. Never returns. */
export function launch(args: readonly string[]): never {
  try {
    run(planOf(args));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    end(NOT_CONFINED, `sandbox: ${error.message}`);
  }
}

/** The plan is the descriptor, or will come over it when there is something to do. */
function planOf(args: readonly string[]): LaunchPlan {
  const [text = "", ...more] = args;
  const fd = /^\d{1,9}$/.test(text) && more.length === 0 ? Number(text) : -1;
  const plan = readPlan(isPairedSocket(fd) ? receiveLaunch(fd) : fd);
  must("close_range", calls.closeOnExecFrom(FIRST_PRIVATE_DESCRIPTOR));
  return plan;
}

function run({ confinement, filters, program }: LaunchPlan): never {
  const mask = calls.setFileModeMask(0);
  must("prctl PR_SET_PDEATHSIG", calls.setParentDeathSignal(SIGKILL));
  must("rt_sigprocmask", calls.unblockAllSignals());
  if (confinement.kind === "mounts") {
    enterView(confinement.mounts);
    must("setsid", calls.beginSession());
  }
  const ruleset = rulesetOf(confinement);
  if (confinement.kind === "filters") must("prctl PR_SET_NO_NEW_PRIVS", calls.setNoNewPrivileges());
  else dropPrivileges();
  // With the program's rights: the root user's would lead into what is denied.
  const directory = enterDirectory(program);
  if (ruleset !== undefined) must("landlock_restrict_self", calls.restrictSelf(ruleset));
  useDefaultActions();
  calls.setFileModeMask(mask);
  for (const filter of filters.map(calls.rawBytes)) must("prctl PR_SET_SECCOMP", calls.installFilter(filter));
  // As bubblewrap does, and with it the reference; where files are left alone nobody does.
  const env = confinement.kind === "filters" ? program.env : withWorkingDirectory(program.env, directory);
  const { exitCode, message } = notRun(program, runProgram({ ...program, env }));
  end(exitCode, message);
}

function rulesetOf(confinement: LaunchPlan["confinement"]): number | undefined {
  switch (confinement.kind) {
    case "mounts":
      return undefined;
    case "landlock":
      return buildRuleset(confinement.rules, confinement.network);
    case "filters":
      return buildNetworkRuleset();
  }
}

/** What is ignored stays so in the next program: SIGPIPE by our runtime, others by whoever started us. */
function useDefaultActions(): void {
  for (let signal = 1; signal <= LAST_SIGNAL; signal++) {
    if (signal === SIGKILL || signal === SIGSTOP) continue; // they always have it
    must(`rt_sigaction ${signal}`, calls.useDefaultAction(signal));
  }
}

function end(code: number, message: string): never {
  calls.write(ERROR_OUTPUT, calls.rawBytes(`${message}\n`));
  calls.endProcess(code);
}
