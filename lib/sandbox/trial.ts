import { fromText } from "./byte_path.ts";
import type { Mechanism } from "./mechanism.ts";
import { probeCommand } from "./probe_command.ts";
import { runToEnd } from "./run_to_end.ts";
import { type RunTrial, selfTest, type Strength } from "./self_test.ts";

/** Tries a back end as it is used; why it cannot be relied on here. */
export function tryMechanism(mechanism: Mechanism, strength: Strength): Promise<string | undefined> {
  const run: RunTrial = async ({ plan, argv, env, cwd }, signal) => {
    const variables = Object.entries(env).map(([name, value]) => fromText(`${name}=${value}`));
    const program = { file: fromText(argv[0]!), argv: argv.map(fromText), env: variables, cwd };
    return await runToEnd(await mechanism.enforcement(plan).prepare(program, signal), signal);
  };
  return selfTest({ strength, run, probe: probeCommand() });
}
