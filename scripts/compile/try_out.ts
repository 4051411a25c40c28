import { CompileError } from "./step.ts";

/**
 * Has an executable say its version and serve, in an environment and a folder that hold nothing.
 *
 * @throws {CompileError} It does not.
 */
export async function tryOut(path: string, expected: string): Promise<void> {
  const version = await tell(path, ["--version"], "");
  if (version !== expected) throw new CompileError(`what was made says that it is ${JSON.stringify(version)}`);
  const request = '{"id":1,"method":"initialize","params":{"clientName":"compile"}}\n';
  const answer = await tell(path, ["--listen", "stdio"], request);
  if (!answer.startsWith('{"id":1,"result":')) {
    throw new CompileError(`what was made does not serve: it answered ${JSON.stringify(answer)}`);
  }
}

/** What the executable writes for an input. */
async function tell(path: string, args: string[], input: string): Promise<string> {
  const cwd = await Deno.makeTempDir({ prefix: "exec-server-compile-" });
  try {
    const clearEnv = Deno.build.os !== "windows";
    const command = new Deno.Command(path, { args, cwd, clearEnv, stdin: "piped", stdout: "piped", stderr: "piped" });
    const child = command.spawn();
    const output = child.output();
    const writer = child.stdin.getWriter();
    // It may have ended already, of which its exit code tells more.
    await writer.write(new TextEncoder().encode(input)).catch(() => {});
    await writer.close().catch(() => {});
    const { code, stdout, stderr } = await output;
    const decoder = new TextDecoder();
    if (code === 0) return decoder.decode(stdout).trim();
    const [reason] = decoder.decode(stderr).split("\n");
    throw new CompileError(`what was made, started with ${args.join(" ")}, ended with exit code ${code}: ${reason}`);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}
