import assert from "node:assert/strict";
import { cString } from "../../lib/linux/cstring.ts";
import * as libc from "../../lib/linux/libc.ts";
import { openTerminal } from "../../lib/process/linux/terminal.ts";
import { systemCallNumber } from "../../lib/sandbox/syscall_numbers.ts";
import { exitCode, inside, planOf, READ_ALL, run, start } from "./support/bubblewrap_run.ts";

inside("a program has no rights, no processes and no descriptors but its own", (ground, user) => {
  ground.lay({ "ws": null });
  const plan = planOf([READ_ALL, ground.rule("ws", "write")]);
  const status = run(ground, plan, "grep -E 'Cap|NoNewPrivs|Seccomp:' /proc/self/status", { user }).stdout;
  const none = ["Inh", "Prm", "Eff", "Bnd", "Amb"].map((set) => `Cap${set}:\t0000000000000000\n`).join("");
  assert.equal(status, `${none}NoNewPrivs:\t1\nSeccomp:\t2\n`);
  const all = run(ground, plan, ["/bin/ls", "/proc/self/fd"], { user }).stdout;
  assert.equal(all, "0\n1\n2\n3\n", "and the directory that is listed");
  const processes = run(ground, plan, [
    "/bin/sh",
    "-c",
    "echo $$ /proc/[0-9]*; cat /proc/net/dev | tail -n +3 | cut -d: -f1",
  ], { user });
  assert.equal(processes.stdout, "2 /proc/1 /proc/2\n    lo\n");
  const first = run(ground, plan, "tr '\\0' ' ' < /proc/1/cmdline; tr '\\0' '\\n' < /proc/1/environ", {
    user,
    env: [["TOKEN", "t"]],
  });
  assert.equal(first.stdout.split(" -- ")[0], "bwrap --args 3");
  assert.ok(!first.stdout.includes("TOKEN"), first.stdout);
  const ofTheFirst = run(ground, plan, "readlink /proc/1/fd/*", { user }).stdout;
  assert.ok(!ofTheFirst.includes(ground.directory), ofTheFirst);
  const attempts = `for c in "unshare -Ur true" "unshare -m true" "umount /proc" "mount -t tmpfs x /mnt"
    do $c 2>/dev/null && echo possible; done; kill -0 ${Deno.pid} 2>&1 | sed -n "s/.*: //p"`;
  assert.equal(run(ground, plan, attempts, { user }).stdout, "No such process\n");
});

inside("the environment is what was asked for and PWD, and bubblewrap itself has none of it", (ground, user) => {
  ground.lay({ "ws": null });
  const env = [["Z", "1"], ["PATH", "/usr/bin"], ["LD_PRELOAD", `${ground.directory}/ws/evil.so`], [
    "U",
    "ü\n",
  ]] as const;
  const { stdout, stderr } = run(ground, planOf([READ_ALL, ground.rule("ws", "write")]), ["env"], { user, env });
  const expected = [...env.map((pair) => pair.join("=")), `PWD=${ground.directory}/ws`].join("\n");
  // What makes us an ordinary user needs a PATH, and so has bubblewrap; the order is ours where it has nothing.
  const inOrder = (text: string) => user.prefix.length === 0 ? text : text.split("\n").sort().join("\n");
  assert.equal(inOrder(stdout.slice(0, -1)), inOrder(expected));
  // Of the program's loader, and not also of bubblewrap's.
  assert.equal(stderr.match(/evil\.so/g)?.length, 1, stderr);
});

inside("a program starts in the root where the view has not got its directory", (ground, user) => {
  ground.lay({ "ws": null, "out": null });
  const { stdout } = run(ground, planOf([READ_ALL, ground.rule("out", "deny")]), ["pwd"], {
    user,
    cwd: ground.path("out"),
  });
  assert.equal(stdout, "/\n");
});

/** Makes system calls by number: name, result, error text. */
function systemCalls(calls: Readonly<Record<string, readonly number[]>>): string[] {
  const list = Object.entries(calls).map(([name, numbers]) => `[q(${name}),${numbers.join(",")}]`);
  const program =
    `for(${list}){my($n,@c)=@$_; $!=0; my $r=syscall(shift(@c),@c,(0)x(6-@c)); print "$n ",($r<0?$!+0:"ok"),"\\n"}`;
  return ["perl", "-e", program];
}

const number = (name: Parameters<typeof systemCallNumber>[1]) => systemCallNumber(Deno.build.arch, name);

inside("with a restricted network no socket leads anywhere", (ground, user) => {
  ground.lay({ "ws": null });
  const calls = {
    inet: [number("socket"), 2, 1],
    udp: [number("socket"), 2, 2],
    inet6: [number("socket"), 10, 1],
    netlink: [number("socket"), 16, 3],
    packet: [number("socket"), 17, 3],
    vsock: [number("socket"), 40, 1],
    unix: [number("socket"), 1, 1],
    unixDatagrams: [number("socket"), 1, 2],
    connect: [number("connect"), 3],
    bind: [number("bind"), 3],
    uring: [number("io_uring_setup"), 1],
    ptrace: [number("ptrace"), 0],
    pidfdGetfd: [number("pidfd_getfd"), 0],
  };
  const results = { ...Object.fromEntries(Object.keys(calls).map((name) => [name, "1"])), unix: "ok" };
  const { stdout } = run(ground, planOf([READ_ALL, ground.rule("ws", "write")]), systemCalls(calls), { user });
  assert.equal(stdout, Object.entries(results).map((pair) => pair.join(" ") + "\n").join(""));
});

inside("with an enabled network there are all but virtual machines' sockets and io_uring", (ground, user) => {
  ground.lay({ "ws": null });
  const calls = {
    inet: [number("socket"), 2, 1],
    unixDatagrams: [number("socket"), 1, 2],
    vsock: [number("socket"), 40, 1],
    uring: [number("io_uring_setup"), 1],
  };
  const plan = planOf([READ_ALL, ground.rule("ws", "write")]);
  const { stdout } = run(ground, plan, systemCalls(calls), { user, network: "enabled" });
  assert.equal(stdout, "inet ok\nunixDatagrams ok\nvsock 1\nuring 1\n");
});

const isX86 = Deno.build.arch === "x86_64";

inside("calls by x32's numbers are refused, and bad ones end like others", (ground, user) => {
  ground.lay({ "ws": null });
  const calls = systemCalls({ socket: [0x40000029, 2, 1], getpid: [0x40000027], none: [600] });
  const { stdout } = run(ground, planOf([READ_ALL, ground.rule("ws", "write")]), calls, { user });
  assert.equal(stdout, "socket 1\ngetpid 1\nnone 38\n");
}, isX86);

inside("exit codes and signals arrive, and what cannot be run says so", (ground, user) => {
  ground.lay({ "ws/text": "no program" });
  const plan = planOf([READ_ALL, ground.rule("ws", "write")]);
  assert.equal(run(ground, plan, "exit 42", { user }).code, 42);
  assert.equal(run(ground, plan, "kill -TERM $$", { user }).code, 143);
  assert.equal(run(ground, plan, "kill -KILL $$", { user }).code, 137);
  const missing = run(ground, plan, ["/nonexistent"], { user });
  assert.deepEqual([missing.code, missing.stderr], [1, "bwrap: execvp /nonexistent: No such file or directory\n"]);
  const denied = run(ground, plan, [`${ground.directory}/ws/text`], { user });
  assert.deepEqual([denied.code, denied.stderr], [1, `bwrap: execvp ${ground.directory}/ws/text: Permission denied\n`]);
});

inside("the whole of it ends with bubblewrap", async (ground, user) => {
  ground.lay({ "ws": null });
  const [read, write] = libc.pipe() as readonly [number, number];
  const input = { path: cString("/dev/null"), flags: libc.O_RDONLY };
  const command = ["/bin/sh", "-c", "trap '' TERM HUP INT; (sleep 100; true) & echo ready; wait"];
  const pid = start(ground, planOf([READ_ALL, ground.rule("ws", "write")]), command, { user }, [input, write, write]);
  libc.close(write);
  using output = await Deno.open(`/proc/self/fd/${read}`);
  libc.close(read);
  const buffer = new Uint8Array(100);
  assert.equal(await output.read(buffer), 6);
  Deno.kill(pid, "SIGKILL");
  assert.equal(exitCode(pid), 137);
  assert.equal(await output.read(buffer), null, "nobody holds the other end of the pipe");
});

for (const newSession of [true, false]) {
  const has = newSession ? "no terminal that controls it, as with the reference" : "one that it can control jobs on";
  inside(
    `on a terminal, ${newSession ? "in a" : "without a"} session of its own, a program has ${has}`,
    (ground, user) => {
      ground.lay({ "ws": null });
      const { master, slavePath } = openTerminal({ rows: 24, columns: 80 });
      const terminal = { path: slavePath, flags: libc.O_RDWR };
      const script = "tty; (: < /dev/tty) 2>/dev/null && echo controls; test -t 0 && echo is one";
      const command = ["/bin/sh", "-c", `(${script}) > out`];
      const plan = planOf([READ_ALL, ground.rule("ws", "write")]);
      const pid = start(ground, plan, command, { user, newSession }, [terminal, 0, 0]);
      exitCode(pid);
      libc.close(master);
      assert.equal(ground.read("ws/out"), newSession ? "/dev/console\nis one\n" : "/dev/console\ncontrols\nis one\n");
    },
  );
}
