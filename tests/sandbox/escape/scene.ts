/** Whole runs of the suite: which attempts in which sandboxes, and the directory and server for them. */
import type { ServerCommand } from "../../program/running_server.ts";
import type { Policy } from "../support/policies.ts";
import { EscapeServer } from "../support/server.ts";
import { isRoot, type User } from "../support/user.ts";
import type { Attempt } from "./attempt.ts";
import { makeAttempts, type Outcome, type Try } from "./suite.ts";

/** Attempts that share a sandbox: setting one up is what takes the time. */
export const TOGETHER = 3;

/** Every attempt in every sandbox that guards what it goes against. */
export function confined(attempts: readonly Attempt[], policies: readonly Policy[]): Try[] {
  return policies.flatMap((policy) =>
    attempts.filter(({ against }) => policy.guards.includes(against)).map((attempt) => ({ attempt, policy }))
  );
}

/**
 * A part of the attempts in which the client has no part itself, each in one of the sandboxes that guard what it goes
 * against, in turn.
 *
 * @param part Which of the parts, from 0.
 */
export function sample(attempts: readonly Attempt[], policies: readonly Policy[], part: number, parts: number): Try[] {
  const all = attempts.filter(({ meanwhile }) => meanwhile === undefined).map((attempt, index) => {
    const possible = policies.filter(({ guards }) => guards.includes(attempt.against));
    return { attempt, policy: possible[Math.floor(index / parts) % possible.length]! };
  });
  return all.filter((_, index) => index % parts === part);
}

/**
 * Every attempt once, in one of the sandboxes that guard what it goes against.
 *
 * @param turn Which of them: the next turn takes the next one.
 */
export function each(attempts: readonly Attempt[], policies: readonly Policy[], turn: number): Try[] {
  return attempts.map((attempt, index) => {
    const possible = policies.filter(({ guards }) => guards.includes(attempt.against));
    return { attempt, policy: possible[(index + turn) % possible.length]! };
  });
}

/** Every attempt, and nothing that confines it. */
export function unconfined(attempts: readonly Attempt[]): Try[] {
  return attempts.map((attempt) => ({ attempt, policy: null }));
}

export interface SuiteOptions {
  readonly together?: number;
  /**
   * Whether everything lies in memory, which takes less time than a disk; for mount namespaces of our own alone.
   */
  readonly inMemory?: boolean;
}

/** Starts the server as the user and makes the attempts. */
export async function runSuite(
  command: ServerCommand,
  user: User,
  tries: readonly Try[],
  { together = TOGETHER, inMemory = false }: SuiteOptions = {},
): Promise<Outcome[]> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "exec-server-escape-" }));
  if (inMemory) await call("mount", ["-t", "tmpfs", "-o", "mode=755", "escape-suite", root]);
  try {
    await Deno.chmod(root, 0o755);
    const visible = user.uid === Deno.uid() ? command : await visibleCommand(command, root);
    await using server = await EscapeServer.start(visible, user, root);
    return await makeAttempts(tries.filter(canPrepare), { server, user, root, together });
  } finally {
    if (inMemory) await call("umount", [root]);
    await Deno.remove(root, { recursive: true });
  }
}

/** Whether what the attempt aims at can be made by whoever we are. */
function canPrepare({ attempt: { needs = [], prepare } }: Try): boolean {
  return isRoot || prepare === undefined || !needs.includes("root");
}

async function call(program: string, args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args: [...args] }).output();
  if (!success) throw new Error(`${program} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}

/** The same command by a path that every user can reach: its program may be in a home that is closed to others. */
async function visibleCommand([program, ...args]: ServerCommand, root: string): Promise<ServerCommand> {
  if (!program.startsWith("/")) return [program, ...args];
  const visible = `${root}/${program.split("/").at(-1)}`;
  const real = await Deno.realPath(program);
  await Deno.link(real, visible).catch(() => Deno.copyFile(real, visible)); // another file system
  return [visible, ...args];
}
