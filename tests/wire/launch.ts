import { withNamespacesUsedUp } from "../sandbox/absence/lacking.ts";
import type { Launch } from "./lines.ts";

/** The command that starts a program under a mask, as a user. The shell and `setpriv` replace themselves by it. */
export function launchWords(
  words: readonly string[],
  { umask, user, namespacesUsedUp = false }: Launch = {},
): string[] {
  if (namespacesUsedUp) words = [...withNamespacesUsedUp, ...words];
  // The user is changed last: until then root can reach programs that the user could not.
  const asUser = user === undefined
    ? words
    : ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", "--", ...words];
  return umask === undefined ? [...asUser] : ["/bin/sh", "-c", 'umask "$0" && exec "$@"', umask, ...asUser];
}

/** Why a program cannot be started like that, or null if it can. */
export function whyNotLaunched(words: readonly string[], { user, namespacesUsedUp }: Launch = {}): string | null {
  if (namespacesUsedUp && !succeeds([...withNamespacesUsedUp, "true"])) {
    return "the limit of user namespaces cannot be set";
  }
  if (user === undefined) return null;
  if (Deno.uid() !== 0) return `only root can run the server as user ${user.uid}`;
  for (const word of words.slice(1).filter((word) => word.startsWith("/"))) {
    if (!succeeds(launchWords(["test", "-r", word], { user }))) return `user ${user.uid} cannot read ${word}`;
  }
  return null;
}

/** Runs a program; true if it exits with 0. */
function succeeds([program, ...args]: readonly string[]): boolean {
  try {
    return new Deno.Command(program!, { args, stdin: "null", stdout: "null", stderr: "null" }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
