import { Announcement, Program } from "./program.ts";
import type { Workspace } from "./workspace.ts";

/**
 * The server under test: a command line to which arguments are appended, or one that runs already. A bare command gets
 * no variable but those that a recording shows.
 */
export type Target =
  | { readonly kind: "command"; readonly words: readonly string[]; readonly isBare?: boolean }
  | { readonly kind: "url"; readonly url: string };

/** Our own program, from source. */
export function ownProgram(): Target & { kind: "command" } {
  const root = decodeURIComponent(new URL("../../", import.meta.url).pathname);
  return { kind: "command", words: [Deno.execPath(), "run", "-A", "--config", `${root}deno.json`, `${root}main.ts`] };
}

/** A WebSocket server of ours, listening. */
export class RunningServer implements AsyncDisposable {
  private constructor(readonly program: Program, readonly url: string) {}

  /** @throws {Mismatch} If it does not say where it listens. */
  static async start(
    words: readonly string[],
    workspace: Workspace,
    env?: Readonly<Record<string, string>>,
  ): Promise<RunningServer> {
    const announcement = new Announcement();
    const program = new Program({
      words,
      cwd: workspace.cwd,
      env: workspace.environment(env),
      stdin: "null",
      onOutput: announcement.take,
    });
    try {
      return new RunningServer(program, await announcement.of(program));
    } catch (error) {
      await program[Symbol.asyncDispose]();
      throw error;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.program[Symbol.asyncDispose]();
  }
}

/** Splits a command line at blanks; quotes, single or double, hold words together. */
export function splitCommand(line: string): string[] {
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, a, b) => a ?? b));
}
