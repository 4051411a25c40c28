import assert from "node:assert/strict";
import { account } from "../../lib/process/account.ts";
import { loginShell, type ShellFiles, terminalShell } from "../../lib/process/login_shell.ts";

// Opens the C library before a test could be blamed for it.
if (Deno.build.os === "linux") await import("../../lib/process/linux/machine.ts");

/** A machine with these files; those that end with `*` can be run. */
function machine(...names: string[]): ShellFiles {
  const files = new Set(names.map((name) => name.replace("*", "")));
  return { isFile: (path) => files.has(path), isExecutable: (path) => names.includes(`${path}*`) };
}

const USUAL = machine("/bin/sh*", "/bin/bash*", "/usr/bin/bash*", "/usr/bin/sh*");
const PATH = "/usr/bin:/bin";

/** What the reference answers (0.171.0 on Linux): the account's shell, PATH, the machine, the answer. */
const CASES: [string | null, string, ShellFiles, string, string][] = [
  ["/bin/bash", PATH, USUAL, "bash", "/bin/bash"],
  ["/bin/sh", PATH, USUAL, "sh", "/bin/sh"],
  ["", PATH, USUAL, "bash", "/usr/bin/bash"],
  [null, PATH, USUAL, "bash", "/usr/bin/bash"],
  ["/usr/sbin/nologin", PATH, USUAL, "bash", "/usr/bin/bash"],
  ["/nosuch/zsh", PATH, USUAL, "bash", "/usr/bin/bash"],
  ["/nosuch/sh", PATH, USUAL, "sh", "/usr/bin/sh"],
  ["/x/zsh", PATH, machine("/x/zsh*"), "zsh", "/x/zsh"],
  ["/x/bash", PATH, machine("/x/bash", "/usr/bin/bash*"), "bash", "/x/bash"],
  ["/x/bash.tar.gz", PATH, machine("/x/bash.tar.gz*"), "bash", "/x/bash.tar.gz"],
  ["/x/.bash", PATH, machine("/x/.bash*", "/usr/bin/bash*"), "bash", "/usr/bin/bash"],
  ["/x/Bash", PATH, machine("/x/Bash*", "/usr/bin/bash*"), "bash", "/usr/bin/bash"],
  ["/x/fish", PATH, machine("/x/fish*", "/usr/bin/bash*"), "bash", "/usr/bin/bash"],
  ["/x/pwsh", PATH, machine("/x/pwsh*"), "powershell", "/x/pwsh"],
  ["/x/cmd.exe", PATH, machine("/x/cmd.exe*"), "cmd", "/x/cmd.exe"],
  ["/bin/pwsh", PATH, USUAL, "bash", "/usr/bin/bash"],
  ["bash", PATH, USUAL, "bash", "/usr/bin/bash"],
  [null, "", USUAL, "bash", "/bin/bash"],
  [null, "/x", machine("/x/bash", "/bin/bash*"), "bash", "/bin/bash"],
  [null, "/x/../y/", machine("/x/../y/bash*"), "bash", "/x/../y/bash"],
  [null, "es/y", machine("es/y/bash*"), "bash", "es/y/bash"],
  [null, PATH, machine("/bin/zsh*"), "zsh", "/bin/zsh"],
  [null, PATH, machine(), "sh", "/bin/sh"],
];

Deno.test("the login shell is the account's if clients know it, otherwise one that the machine has", () => {
  for (const [own, path, files, name, expected] of CASES) {
    assert.deepEqual(loginShell(own, path, files), { name, path: expected }, `${own} on ${path}`);
  }
});

Deno.test("a terminal's SHELL is whatever the account has, if it can be run", () => {
  const files = machine("/x/fish*", "/x/bash");
  assert.equal(terminalShell("/x/fish", files), "/x/fish");
  assert.equal(terminalShell("/x/bash", files), "/bin/sh");
  assert.equal(terminalShell("", files), "/bin/sh");
  assert.equal(terminalShell(null, files), "/bin/sh");
});

Deno.test("the account that we run under has a shell", async () => {
  const { uid, shell } = await account();
  assert.equal(uid, Deno.uid());
  assert.match(shell.path, /\/(ba|z|)sh$/);
});
