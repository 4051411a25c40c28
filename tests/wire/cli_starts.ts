import { within } from "./deadline.ts";
import type { MatchContext } from "./match.ts";
import { Mismatch, show } from "./mismatch.ts";
import { Announcement, Program } from "./program.ts";
import type { RecvLine, SendLine, Transcript } from "./lines.ts";
import type { Workspace } from "./workspace.ts";

/** How many programs are started at once. */
const AT_ONCE = 3;

/** What the reference says first where its home lies below the directory for temporary files, as here. */
const HOME_WARNING = /^WARNING: proceeding, even though we could not create PATH aliases: .*\n/;

/** Plays a recording of starts of the program, each with its own arguments and an empty input. */
export async function playCli(
  transcript: Transcript,
  words: readonly string[],
  workspace: Workspace,
  context: MatchContext,
): Promise<void> {
  const starts: [SendLine, RecvLine][] = [];
  for (let i = 0; i < transcript.lines.length; i += 2) {
    starts.push([transcript.lines[i] as SendLine, transcript.lines[i + 1] as RecvLine]);
  }
  const failures: string[] = [];
  const play = async () => {
    for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
      const different = await startDifference(start, words, workspace, context);
      if (different !== null) failures.push(`${show(start[0].cli)}: ${different}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, play));
  if (failures.length > 0) throw new Mismatch(failures.join("\n"));
}

async function startDifference(
  [{ cli, env }, expected]: [SendLine, RecvLine],
  words: readonly string[],
  workspace: Workspace,
  { bindings }: MatchContext,
): Promise<string | null> {
  const args = await Promise.all(cli!.map((arg) => bindings.fill(arg)));
  const announcement = new Announcement();
  await using program = new Program({
    words: [...words, ...args],
    cwd: workspace.cwd,
    env: workspace.environment(env),
    stdin: "null",
    onOutput: announcement.take,
  });
  if (expected.running) {
    await announcement.of(program);
    program.signal("SIGTERM");
  }
  const exit = await within(program.exited, "exit");
  const actual = {
    exitCode: exit.code,
    stdout: await program.stdout,
    stderr: (await program.stderr).replace(HOME_WARNING, ""),
  };
  bindings.forget("port");
  const wanted = { exitCode: expected.exitCode ?? 0, stdout: expected.stdout ?? "", stderr: expected.stderr };
  const same = actual.exitCode === wanted.exitCode && bindings.match(wanted.stdout, actual.stdout) &&
    (wanted.stderr === undefined || bindings.match(wanted.stderr, actual.stderr));
  return same ? null : `expected ${show(wanted)}, got ${show(actual)}`;
}
