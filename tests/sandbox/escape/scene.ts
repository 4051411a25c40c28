/** Whole runs of the suite: which attempts in which sandboxes, and the directory and server for them. */
import type { ServerCommand } from "../../program/running_server.ts";
import type { Policy } from "../support/policies.ts";
import { EscapeServer } from "../support/server.ts";
import type { User } from "../support/user.ts";
import type { Attempt } from "./attempt.ts";
import { makeAttempts, type Outcome, type Try } from "./suite.ts";

/** Attempts that share a sandbox: setting one up is what takes the time. */
export const TOGETHER = 12;

/** Every attempt in every sandbox that guards what it goes against. */
export function confined(attempts: readonly Attempt[], policies: readonly Policy[]): Try[] {
  return policies.flatMap((policy) =>
    attempts.filter(({ against }) => policy.guards.includes(against)).map((attempt) => ({ attempt, policy }))
  );
}

/** Every attempt, and nothing that confines it. */
export function unconfined(attempts: readonly Attempt[]): Try[] {
  return attempts.map((attempt) => ({ attempt, policy: null }));
}

/** Starts the server as the user and makes the attempts. */
export async function runSuite(
  command: ServerCommand,
  user: User,
  tries: readonly Try[],
  together = TOGETHER,
): Promise<Outcome[]> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "exec-server-escape-" }));
  try {
    await Deno.chmod(root, 0o755);
    const visible = user.uid === Deno.uid() ? command : await visibleCommand(command, root);
    await using server = await EscapeServer.start(visible, user, root);
    return await makeAttempts(tries, { server, user, root, together });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** The same command by a path that every user can reach: its program may be in a home that is closed to others. */
async function visibleCommand([program, ...args]: ServerCommand, root: string): Promise<ServerCommand> {
  if (!program.startsWith("/")) return [program, ...args];
  const visible = `${root}/${program.split("/").at(-1)}`;
  const real = await Deno.realPath(program);
  await Deno.link(real, visible).catch(() => Deno.copyFile(real, visible)); // another file system
  return [visible, ...args];
}
