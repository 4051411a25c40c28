/** A shell under the short name that the wire has for its kind. */
export interface LoginShell {
  readonly name: ShellName;
  readonly path: string;
}

export type ShellName = "bash" | "zsh" | "sh" | "powershell" | "cmd";

/** What asks about files. A relative path is taken from the server's working directory. */
export interface ShellFiles {
  isFile(path: string): boolean;
  isExecutable(path: string): boolean;
}

/** Where a kind of shell usually is, when PATH does not tell. */
const USUAL_SHELLS: ReadonlyMap<ShellName, string> = new Map([
  ["bash", "/bin/bash"],
  ["zsh", "/bin/zsh"],
  ["sh", "/bin/sh"],
]);

/** How the program file of each kind is called, without extensions. */
const SHELL_NAMES: ReadonlyMap<string, ShellName> = new Map([
  ["bash", "bash"],
  ["zsh", "zsh"],
  ["sh", "sh"],
  ["pwsh", "powershell"],
  ["powershell", "powershell"],
  ["cmd", "cmd"],
]);

/**
 * The shell that `environment/info` reports: the account's own if it is one that clients know, otherwise a bash or a
 * zsh found on the server's PATH or in its usual place, at last `/bin/sh`.
 *
 * @param own The account's shell: may be empty, missing on this machine, or no shell at all (`nologin`).
 * @param path The server's PATH.
 */
export function loginShell(own: string | null, path: string, files: ShellFiles): LoginShell {
  const ownName = own === null ? undefined : shellName(own);
  for (const name of new Set([ownName ?? "bash", "bash", "zsh"] as const)) {
    if (own !== null && ownName === name && files.isFile(own)) return { name, path: own };
    const found = findShell(name, path, files);
    if (found !== undefined) return { name, path: found };
  }
  return { name: "sh", path: "/bin/sh" };
}

/** What `SHELL` is set to for a terminal whose environment has none: the account's shell if it can be run. */
export function terminalShell(own: string | null, files: ShellFiles): string {
  return own !== null && files.isExecutable(own) ? own : "/bin/sh";
}

function findShell(name: ShellName, path: string, files: ShellFiles): string | undefined {
  const usual = USUAL_SHELLS.get(name);
  if (usual === undefined) return undefined;
  const onPath = path.split(":").filter((entry) => entry !== "").map((entry) => `${entry.replace(/\/$/, "")}/${name}`);
  return onPath.find((candidate) => files.isFile(candidate) && files.isExecutable(candidate)) ??
    (files.isFile(usual) ? usual : undefined);
}

/** The file name without all its extensions decides. */
function shellName(shell: string): ShellName | undefined {
  const file = shell.slice(Math.max(shell.lastIndexOf("/"), shell.lastIndexOf("\\")) + 1);
  return SHELL_NAMES.get(file.replace(/(?<=.)\..*$/s, ""));
}
