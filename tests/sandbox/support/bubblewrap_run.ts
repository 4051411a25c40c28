/** Runs programs through the bubblewrap of this machine, in the views of plans. */

import assert from "node:assert/strict";
import { cString, cStringArray } from "../../../lib/linux/cstring.ts";
import * as libc from "../../../lib/linux/libc.ts";
import { type DescriptorSource, posixSpawn } from "../../../lib/linux/posix_spawn.ts";
import { bubblewrapLaunch, type BubblewrapOptions } from "../../../lib/sandbox/bubblewrap.ts";
import { type BubblewrapVersion, bubblewrapVersion } from "../../../lib/sandbox/bubblewrap_version.ts";
import { fromText, toText } from "../../../lib/sandbox/byte_path.ts";
import { type CoverFiles, makeCoverFiles } from "../../../lib/sandbox/cover_files.ts";
import { memoryFile } from "../../../lib/sandbox/memory_file.ts";
import { missingMountPoints, mountPlan, type ViewOptions } from "../../../lib/sandbox/mount_plan.ts";
import { openBinds } from "../../../lib/sandbox/open_binds.ts";
import type { AccessPlan, AccessRule, BytePath } from "../../../lib/sandbox/policy.ts";
import { networkFilter } from "../../../lib/sandbox/seccomp.ts";
import { type User, USERS } from "./user.ts";

/** Null where there is no bubblewrap that can make namespaces: tests that need it are ignored. */
export const installed: BubblewrapVersion | null = probe();

function probe(): BubblewrapVersion | null {
  const decoder = new TextDecoder();
  const run = (...args: string[]) => new Deno.Command("bwrap", { args, stderr: "null" }).outputSync();
  try {
    const { success } = run("--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "true");
    const version = bubblewrapVersion(
      ...["--version", "--help"].map((flag) => decoder.decode(run(flag).stdout)) as [string, string],
    );
    return success && typeof version !== "string" ? version : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

export interface RunOptions
  extends
    Partial<Omit<BubblewrapOptions, "version" | "command" | "covers" | "optionsFd" | "seccompFd" | "firstBindFd">> {
  readonly scratch?: ViewOptions["scratch"];
  readonly hidden?: ViewOptions["hidden"];
  readonly user: User;
  /** Done when the view is planned and nothing of it is open yet; and when it is. */
  readonly beforeOpening?: () => void;
  readonly beforeStarting?: () => void;
  readonly version?: BubblewrapVersion;
  /** Where stdin, stdout and stderr come from; the first is otherwise empty, the others are collected. */
  readonly streams?: readonly DescriptorSource[];
}

export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A directory of a user's own, with files to be reached and protected. */
export class Ground implements Disposable {
  readonly directory = Deno.makeTempDirSync({ prefix: "exec-server-bubblewrap-" });
  readonly covers: CoverFiles;

  constructor(readonly user: User) {
    const own = `${this.directory}/own`;
    Deno.mkdirSync(own, { mode: 0o700 });
    this.covers = makeCoverFiles(own);
    this.give();
  }

  /** Lays out files (with their contents) and directories (null) and gives them to the user. */
  lay(tree: Readonly<Record<string, string | null>>): this {
    for (const [name, contents] of Object.entries(tree)) {
      const path = `${this.directory}/${name}`;
      Deno.mkdirSync(contents === null ? path : path.slice(0, path.lastIndexOf("/")), { recursive: true });
      if (contents !== null) Deno.writeTextFileSync(path, contents);
    }
    this.give();
    return this;
  }

  give(): void {
    const { uid, gid } = this.user;
    const { success } = new Deno.Command("chown", { args: ["-hR", `${uid}:${gid}`, this.directory] }).outputSync();
    assert.ok(success, "chown");
  }

  path(name: string): BytePath {
    return fromText(`${this.directory}/${name}`);
  }

  rule(name: string, access: AccessRule["access"], found: AccessRule["found"] = "directory"): AccessRule {
    return { path: this.path(name), access, found, isProtection: false };
  }

  read(name: string): string {
    return Deno.readTextFileSync(`${this.directory}/${name}`);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.directory, { recursive: true });
  }
}

export const READ_ALL: AccessRule = { path: "/", access: "read", found: "directory", isProtection: false };

export function planOf(rules: readonly AccessRule[], links: AccessPlan["links"] = []): AccessPlan {
  return { fullRead: false, fullWrite: false, network: "restricted", rules, links, refusal: undefined };
}

/** Starts a command and returns bubblewrap's process id, or that of whatever it was replaced by. */
export function start(
  ground: Ground,
  plan: AccessPlan,
  command: readonly string[],
  options: RunOptions,
  streams: readonly DescriptorSource[],
): number {
  const { user, scratch = "writable", hidden = [], network = "restricted" } = options;
  const mounts = mountPlan(plan, { scratch, hidden });
  for (const { kind, path } of missingMountPoints(mounts)) {
    if (kind === "emptyDirectory") Deno.mkdirSync(toText(path));
    else Deno.writeFileSync(toText(path), new Uint8Array(), { createNew: true });
    ground.give();
  }
  const { argv, options: words, binds } = bubblewrapLaunch(mounts, {
    version: installed!,
    network,
    command,
    env: [["PATH", "/usr/bin:/bin"]],
    cwd: ground.path("ws"),
    optionsFd: 3,
    seccompFd: 4,
    firstBindFd: 5,
    newSession: true,
    ...options,
    ...(options.env === undefined
      ? {}
      : { env: [...options.env].map(([name, value]) => [fromText(name), fromText(value)]) }),
    covers: ground.covers,
  });
  const files: number[] = [];
  try {
    files.push(memoryFile("bubblewrap options", words));
    files.push(memoryFile("filter", networkFilter(Deno.build.arch, network)));
    options.beforeOpening?.();
    files.push(...openBinds(binds));
    options.beforeStarting?.();
    const full = [...user.prefix, ...argv];
    return posixSpawn({
      path: cString(find(full[0]!)),
      argv: cStringArray(full),
      env: cStringArray(user.prefix.length === 0 ? [] : ["PATH=/usr/sbin:/usr/bin:/bin"]),
      directory: cString("/"),
      descriptors: [...streams, ...files],
    });
  } finally {
    for (const fd of files) libc.close(fd);
  }
}

export function find(program: string): string {
  const found = ["/usr/bin", "/bin", "/usr/sbin"].map((directory) => `${directory}/${program}`)
    .find((path) => Deno.statSync(path).isFile);
  assert.ok(found !== undefined, program);
  return found;
}

/** Runs a shell script, or a command, and waits for its end. */
export function run(
  ground: Ground,
  plan: AccessPlan,
  script: string | readonly string[],
  options: RunOptions,
): RunResult {
  const command = typeof script === "string" ? ["/bin/sh", "-c", script] : script;
  const outputs = [libc.memoryFile(cString("stdout")), libc.memoryFile(cString("stderr"))];
  try {
    const input = { path: cString("/dev/null"), flags: libc.O_RDONLY };
    const pid = start(ground, plan, command, options, options.streams ?? [input, ...outputs]);
    assert.ok(pid > 0, `start: ${pid}`);
    const code = exitCode(pid);
    const [stdout, stderr] = outputs.map((fd) => Deno.readTextFileSync(`/proc/self/fd/${fd}`));
    return { code, stdout: stdout!, stderr: stderr! };
  } finally {
    for (const fd of outputs) libc.close(fd);
  }
}

/** Waits for the end of a child, as shells count: 128 and the signal if one killed it. */
export function exitCode(pid: number): number {
  const status = new Int32Array(1);
  assert.equal(libc.symbols.waitpid(pid, libc.bytesOf(status), 0), pid);
  const [signal, code] = [status[0]! & 0x7f, status[0]! >> 8 & 0xff];
  return signal === 0 ? code : 128 + signal;
}

/** Once for everybody as whom it can be tried; counted as ignored where bubblewrap does not work. */
export function inside(
  sentence: string,
  test: (ground: Ground, user: User) => void | Promise<void>,
  canBeTried = true,
): void {
  for (const user of USERS) {
    Deno.test(`bubblewrap, as ${user.name}: ${sentence}`, { ignore: installed === null || !canBeTried }, async () => {
      using ground = new Ground(user);
      await test(ground, user);
    });
  }
}
