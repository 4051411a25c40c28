import { silentLog } from "../../log.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { ServerSandbox } from "../../server/server_sandbox.ts";
import { type Finding, note, ok } from "./check.ts";

type Reports = Awaited<ReturnType<Sandbox["report"]>>;

const NAMESPACES = "this user must be allowed to make user namespaces (user.max_user_namespaces, and on Ubuntu " +
  "kernel.apparmor_restrict_unprivileged_userns); containers often forbid it";
const ADVICE: Readonly<Partial<Record<string, string>>> = {
  bubblewrap: `install bubblewrap 0.5 or newer; ${NAMESPACES}`,
  unshare: `it is part of util-linux; ${NAMESPACES}`,
  landlock: "the kernel must have Landlock in its list of security modules, of Linux 6.12 or newer",
};

/** What can enforce sandboxes on this machine, each with what it promises or what it lacks. */
export async function lookAtBackEnds(report: () => Promise<Reports> = reportHere): Promise<[string, Finding][]> {
  const reports = await report();
  return reports.map(({ name, reason, promise }) => [
    name,
    reason === undefined ? ok(`can enforce ${promise}`) : note(`does not work here: ${reason}`, ADVICE[name]),
  ]);
}

async function reportHere(): Promise<Reports> {
  using sandbox = new ServerSandbox({ choice: "auto", secretPaths: [], log: silentLog });
  return await (await sandbox.get()).report();
}
