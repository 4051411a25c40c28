import { userInfo } from "node:os";

/** Where users live and what they type into; a user that is in no password database has what every system has. */
export function ownAccount(): { home: string; shell: string | null } {
  try {
    const { homedir, shell } = userInfo();
    return { home: homedir, shell };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { home: "/", shell: "/bin/sh" };
    throw error;
  }
}

/** The variables of a terminal's program, to which SHELL is added if it is not among them. */
export function withShell(env: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const { shell } = ownAccount();
  return shell === null || env.has("SHELL") ? env : new Map([...env, ["SHELL", shell]]);
}
