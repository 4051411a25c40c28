/** Why there is no executable, in one sentence for whoever wanted one. */
export class CompileError extends Error {}

/**
 * Runs a program of a build and waits for it; what it writes is read only if it fails.
 *
 * @throws {CompileError} It cannot be started, or fails, which the sentence has at its end.
 */
export async function runStep(program: string, args: readonly string[], signal: AbortSignal): Promise<void> {
  const { success, stderr } = await outputOf(program, args, signal);
  if (!success) throw new CompileError(`${args[0]} failed: ${complaint(stderr)}`);
}

/** What a program without input writes. */
export async function outputOf(program: string, args: readonly string[], signal: AbortSignal) {
  const decoder = new TextDecoder();
  const env = { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
  let output;
  try {
    output = await new Deno.Command(program, { args: [...args], env, stdin: "null", signal }).output();
  } catch (error) {
    throw new CompileError(`${program} cannot be run: ${error instanceof Error ? error.message : error}`);
  }
  signal.throwIfAborted();
  return { ...output, stdout: decoder.decode(output.stdout), stderr: decoder.decode(output.stderr) };
}

/** The part of Deno's messages that says what is wrong: from the first error on, without details and a stack of its own. */
function complaint(stderr: string): string {
  const start = Math.max(stderr.search(/^\S*error\b/im), 0);
  return stderr.slice(start).split(/\n(?:Stack backtrace|changes):/)[0]!.trim().replaceAll(/\s*\n\s*/g, "; ");
}
