import { ExecError } from "../../errors.ts";
import { fromText, toText } from "../../sandbox/byte_path.ts";
import type { ConfinedProgram, Enforcement, PreparedLaunch } from "../../sandbox/sandbox.ts";
import type { LaunchSpec } from "../child.ts";
import { checkStrings } from "../program.ts";
import { Files, terminalDirectory } from "../terminal_program.ts";
import { ownAccount, withShell } from "./account.ts";
import type { Launch } from "./launch.ts";
import { pathText, probe, requireDirectory } from "./preflight.ts";

/**
 * Makes ready what is to be started in the place of a program, and starts it. The program itself is not looked for: that
 * has to be done inside.
 *
 * @param start Starts it, on pipes or on a terminal.
 * @throws {ExecError} As for every start, where it cannot be handed to the system or has no directory, and
 * `sandboxUnavailable`.
 */
export async function launchPrepared<T>(
  spec: LaunchSpec,
  enforcement: Enforcement,
  signal: AbortSignal,
  start: (launch: Launch) => Promise<T>,
): Promise<T> {
  using prepared = await enforcement.prepare(await confinedProgram(spec), signal);
  try {
    signal.throwIfAborted();
    return await start(launchOf(prepared));
  } catch (error) {
    prepared.ended();
    throw error;
  }
}

async function confinedProgram(spec: LaunchSpec): Promise<ConfinedProgram> {
  const { cwd } = spec.tty ? terminalDirectory(spec, () => ownAccount().home, new Files(probe)) : spec;
  checkStrings(spec, cwd);
  const directory = pathText(cwd);
  await requireDirectory(directory);
  const [file, ...rest] = spec.argv;
  const env = spec.tty ? withShell(spec.env) : spec.env;
  return {
    file: fromText(file!),
    argv: [spec.arg0 ?? file!, ...rest].map(fromText),
    env: [...env].map(([name, value]) => fromText(`${name}=${value}`)),
    cwd: fromText(await Deno.realPath(directory)),
  };
}

function launchOf(prepared: PreparedLaunch): Launch {
  if (prepared.descriptors.length > 0) {
    throw new ExecError("sandboxUnavailable", "sandbox unavailable: no descriptors can be handed over on this system");
  }
  const [arg0, ...args] = prepared.argv.map(toText);
  const variables = prepared.env.map((variable): [string, string] => {
    const text = toText(variable);
    // The name is not empty.
    const end = text.indexOf("=", 1);
    return [text.slice(0, end), text.slice(end + 1)];
  });
  return {
    file: toText(prepared.path),
    args,
    arg0: arg0!,
    cwd: toText(prepared.directory ?? "/"),
    env: Object.fromEntries(variables),
    started: (pid) => prepared.started(pid),
    ended: () => prepared.ended(),
  };
}
