/** The account that the server runs under: who it is, where it lives, which shell it logs in with. */
export interface Account {
  readonly uid: number;
  /** null: the user is in no password database, as is usual in containers that run under an arbitrary id. */
  readonly home: string | null;
  /** As the database has it: may be empty, missing on this machine, or no shell at all (`nologin`). */
  readonly shell: string | null;
}

/** What asks about files. */
export interface ShellFiles {
  isFile(path: string): boolean;
  isExecutable(path: string): boolean;
}

/** A shell under the short name that the wire has for its kind. */
export interface LoginShell {
  readonly name: ShellName;
  readonly path: string;
}

export type ShellName = "bash" | "zsh" | "sh" | "powershell" | "cmd";

/** Where a kind of shell usually is, when PATH does not tell. */
const USUAL_SHELLS: ReadonlyMap<ShellName, string> = new Map([["bash", "/bin/bash"], ["zsh", "/bin/zsh"], [
  "sh",
  "/bin/sh",
]]);
/** How the program file of each kind is called. */
const SHELL_NAMES: ReadonlyMap<string, ShellName> = new Map([
  ["bash", "bash"],
  ["zsh", "zsh"],
  ["sh", "sh"],
  ["pwsh", "powershell"],
  ["powershell", "powershell"],
  ["cmd", "cmd"],
]);

/**
 * The shell that `environment/info` reports: the account's if it is one that clients know, otherwise a bash or a zsh
 * found on the server's PATH or in its usual place, at last `/bin/sh`.
 *
 * @param path The server's PATH.
 */
export function loginShell(account: Account, path: string, files: ShellFiles): LoginShell {
  const own = account.shell === null ? undefined : shellName(account.shell);
  for (const name of new Set([own ?? "bash", "bash", "zsh"] as const)) {
    const found = findShell(name, account, path, files);
    if (found !== undefined) return { name, path: found };
  }
  return { name: "sh", path: "/bin/sh" };
}

/** What `SHELL` is set to for a terminal whose environment has none. */
export function terminalShell(account: Account, files: ShellFiles): string {
  return account.shell !== null && files.isExecutable(account.shell) ? account.shell : "/bin/sh";
}

function findShell(name: ShellName, account: Account, path: string, files: ShellFiles): string | undefined {
  if (account.shell !== null && shellName(account.shell) === name && files.isFile(account.shell)) return account.shell;
  const usual = USUAL_SHELLS.get(name);
  if (usual === undefined) return undefined;
  const onPath = path.split(":").filter((entry) => entry !== "").map((entry) => `${entry.replace(/\/$/, "")}/${name}`);
  return onPath.find((candidate) => files.isFile(candidate) && files.isExecutable(candidate)) ??
    (files.isFile(usual) ? usual : undefined);
}

/** The file name without all its extensions decides. */
function shellName(shell: string): ShellName | undefined {
  const file = shell.slice(shell.lastIndexOf("/") + 1);
  return SHELL_NAMES.get(file.replace(/(?<=.)\..*$/s, ""));
}
