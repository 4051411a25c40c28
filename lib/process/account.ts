import { type LoginShell, loginShell, type ShellFiles } from "./login_shell.ts";

/** The account that the server runs under: where it lives, which shell it logs in with. */
export interface Account {
  /** null where users have no numbers. */
  readonly uid: number | null;
  /** null: the user is in no password database, as is usual in containers that run under an arbitrary id. */
  readonly home: string | null;
  readonly shell: LoginShell;
}

/** The account as this system has it; on Linux from the password database, elsewhere from the environment. */
export async function account(): Promise<Account> {
  const path = Deno.env.get("PATH") ?? "";
  if (Deno.build.os === "linux") {
    const { ownPasswordEntry, shellFiles } = await import("./linux/machine.ts");
    const entry = ownPasswordEntry();
    return { uid: Deno.uid(), home: entry?.home ?? null, shell: loginShell(entry?.shell ?? null, path, shellFiles) };
  }
  const home = Deno.env.get(Deno.build.os === "windows" ? "USERPROFILE" : "HOME") ?? null;
  const own = Deno.env.get(Deno.build.os === "windows" ? "COMSPEC" : "SHELL") ?? null;
  return { uid: Deno.uid(), home, shell: loginShell(own, path, portableFiles) };
}

const portableFiles: ShellFiles = {
  isFile: (path) => stat(path)?.isFile ?? false,
  isExecutable: (path) => ((stat(path)?.mode ?? 0) & 0o111) !== 0,
};

function stat(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch {
    return undefined; // whatever keeps us from seeing it: as a shell it is of no use
  }
}
