/**
 * The executable as users drop it somewhere: alone in a directory, started by an ordinary user in an environment that
 * holds nothing. Runs where `EXEC_SERVER_BINARY` names one.
 */
import assert from "node:assert/strict";
import { VERSION } from "../../lib/version.ts";
import { backEndMissing } from "../sandbox/support/back_ends.ts";
import { isAlive } from "../support/linux.ts";
import { pathEntry, restricted, specialEntry } from "../support/sandbox_documents.ts";
import { eventually } from "./eventually.ts";
import { BINARY, Box, canUnshare, RECORD, type Served, UID_WITH_MOUNTS, USER } from "./executable_box.ts";

const noBinary = BINARY ? undefined : "EXEC_SERVER_BINARY names none";
const noMounts = noBinary ?? (await canUnshare() ? undefined : "no mounts of one's own can be made");
const noView = noBinary ?? await backEndMissing("unshare", USER);

/** Registers a test that is counted as skipped where what it needs is missing. */
function test(name: string, missing: string | undefined, fn: (box: Box) => Promise<void>): void {
  Deno.test({
    name: `the executable ${name}${missing === undefined ? "" : ` (skipped: ${missing})`}`,
    ignore: missing !== undefined,
    fn: async () => {
      await using box = await Box.create();
      await fn(box);
    },
  });
}

function sandboxOf(work: string) {
  return restricted([specialEntry("root", "read"), pathEntry(`file://${work}`, "write")]);
}

/** What needs nothing but the program itself: programs on pipes and terminals, files. */
async function checkPlain(served: Served, uid = USER.uid): Promise<void> {
  const { client, work } = served;
  const plain = { exitCode: 0, sandboxType: "none" };
  assert.deepEqual(await served.run(["/bin/sh", "-c", "echo on pipes; id -u"]), {
    output: `on pipes\n${uid}\n`,
    ...plain,
  });
  assert.deepEqual(await served.run(["/bin/sh", "-c", "test -t 0 && echo on a terminal"], { tty: true }), {
    output: "on a terminal\r\n",
    ...plain,
  });
  const path = `file://${work}/plain`;
  await client.request("fs/writeFile", { path, dataBase64: btoa("written") });
  assert.deepEqual(await client.request("fs/readFile", { path }), { dataBase64: btoa("written") });
  await client.request("fs/remove", { path });
}

/** What the program starts itself for: once more, as one of its hidden parts. */
async function checkConfined(served: Served): Promise<void> {
  const { client, work } = served;
  const sandbox = sandboxOf(work);
  const script = "echo in > inside && ! (echo no > ../outside) 2>/dev/null && echo confined; test -e .git || echo none";
  const { output, exitCode, sandboxType } = await served.run(["/bin/sh", "-c", script], { sandbox });
  assert.deepEqual([output, exitCode, sandboxType], ["confined\n", 0, "linuxSeccomp"]);
  const path = `file://${work}/confined`;
  await client.request("fs/writeFile", { path, dataBase64: btoa("helped"), sandbox });
  assert.deepEqual(await client.request("fs/readFile", { path, sandbox }), { dataBase64: btoa("helped") });
  await assert.rejects(client.request("fs/writeFile", { path: "file:///var/tmp/outside", dataBase64: "", sandbox }));
}

/** What lies in the places that everybody may write to and belongs to the user; paths. */
function leftBehind(): string[] {
  return ["/tmp", "/var/tmp", "/dev/shm"].flatMap((directory) =>
    [...Deno.readDirSync(directory)].map(({ name }) => `${directory}/${name}`).filter((path) => {
      try {
        return Deno.lstatSync(path).uid === USER.uid;
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return false;
        throw error;
      }
    })
  );
}

test("says its version and serves, with nothing around it", noBinary, async (box) => {
  const before = USER.uid === Deno.uid() ? [] : leftBehind();
  assert.deepEqual(await box.run(["--version"]), { code: 0, stdout: `exec-server ${VERSION}\n`, stderr: "" });
  await using served = await box.serve();
  await checkPlain(served);
  assert.equal(await served.end(), 0);
  assert.equal(served.stderr, "");
  // What others of this user's do is not to be told apart from it.
  if (USER.uid !== Deno.uid()) assert.deepEqual(leftBehind(), before);
  assert.deepEqual([...Deno.readDirSync(box.work)], []);
  assert.deepEqual([...Deno.readDirSync(`${box.root}/bin`)].map(({ name }) => name), ["exec-server"]);
});

test("confines programs and file requests, and leaves only its record on the machine", noView, async (box) => {
  const before = USER.uid === Deno.uid() ? [] : leftBehind();
  await using served = await box.serve();
  await checkConfined(served);
  assert.equal(await served.end(), 0);
  assert.equal(served.stderr, "");
  assert.deepEqual([...Deno.readDirSync(box.work)].map(({ name }) => name).sort(), ["confined", "inside"]);
  if (USER.uid === Deno.uid()) return;
  assert.deepEqual(leftBehind(), [...before, RECORD]);
  assert.deepEqual([...Deno.readDirSync(`${RECORD}/mount-points`)].map(({ name }) => name), ["lock"]);
});

for (const backEnd of ["bubblewrap", "unshare"] as const) {
  const missing = noBinary ?? await backEndMissing(backEnd, USER);
  test(`confines by ${backEnd}, of which it is a part inside`, missing, async (box) => {
    await using served = await box.serve(["--sandbox", backEnd]);
    await checkConfined(served);
  });
}

test("is looked over by its own doctor", noBinary, async (box) => {
  const { stdout, stderr } = await box.run(["doctor"], { cwd: "/" });
  assert.equal(stderr, "");
  for (const what of ["connection", "version", "program", "terminal", "files", "copying"]) {
    assert.match(stdout, new RegExp(`^ok +${what} `, "m"), stdout);
  }
  assert.match(stdout, /^note +detached .*XDG_STATE_HOME.*HOME/m);
});

test("keeps the state of what is detached where it is told to", noBinary, async (box) => {
  const env = { XDG_STATE_HOME: `${box.work}/state` };
  const script = `"$1" --listen ws://127.0.0.1:0 > "$2/url" & trap 'kill $!' EXIT
    while ! url=$(grep . "$2/url"); do sleep 0.02; done
    id=$("$1" exec --detach --connect "$url" -- sh -c "echo left running; exec sleep 1000") && "$1" ps &&
      "$1" logs "$id" && "$1" kill -s kill "$id"`;
  const { code, stdout, stderr } = await box.run(["-c", script, "sh", box.binary, box.work], {
    env,
    program: "/bin/sh",
  });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^ID .*\n\S+ +running .*\nleft running\n$/);
});

test("ends its programs although it was killed", noBinary, async (box) => {
  await using served = await box.serve();
  const script = "trap '' HUP INT TERM; echo $$; while :; do sleep 1000; done";
  const { id } = await served.start(["/bin/sh", "-c", script]);
  await eventually("the program has begun", () => assert.match(served.outputOf(id), /\n/));
  const pid = Number(served.outputOf(id));
  assert.ok(isAlive(pid));
  served.child.kill("SIGKILL");
  await eventually("the program is gone", () => assert.ok(!isAlive(pid)));
});

for (
  const [how, program] of [
    ["by a link", (box: Box) => `${box.work}/link`],
    ["by a relative path", () => "./relative"],
    ["by a name on the search path", () => "found-by-name"],
  ] as const
) {
  test(`finds itself when it is started ${how}`, noView, async (box) => {
    for (const name of ["link", "relative", "found-by-name"]) await Deno.symlink(box.binary, `${box.work}/${name}`);
    const [env, words] = ["/usr/bin/env", [`PATH=${box.work}`, program(box)]];
    await using served = await box.serve([], { program: env, before: words });
    await checkConfined(served);
  });
}

test("finds itself whatever name it is given", noView, async (box) => {
  for (const name of ["", "node"]) {
    const before = ["-c", 'exec -a "$0" "$@"', name, box.binary];
    await using served = await box.serve([], { program: "/bin/bash", before });
    await checkConfined(served);
    for (const made of ["inside", "confined"]) await Deno.remove(`${box.work}/${made}`);
  }
});

test("starts in a directory that it cannot enter", noView, async (box) => {
  await using served = await box.serve([], { cwd: box.locked });
  await checkPlain(served);
  await checkConfined(served);
});

test("runs what needs no server in a directory that it cannot enter, and says where", noBinary, async (box) => {
  const { code, stdout, stderr } = await box.run(["exec", "--", "/bin/pwd"], { cwd: box.locked });
  const isEntered = USER.uid === Deno.uid();
  assert.deepEqual([code, stdout], [0, isEntered ? `${box.locked}\n` : "/\n"]);
  const said =
    `exec-server: the current directory '${box.locked}' cannot be entered; programs on this machine start in '/'\n`;
  assert.equal(stderr, isEntered ? "" : said);
});

test("goes on when its directory is removed", noView, async (box) => {
  await Deno.mkdir(`${box.root}/going`);
  await using served = await box.serve([], { cwd: `${box.root}/going` });
  await Deno.remove(`${box.root}/going`);
  await checkPlain(served);
  await checkConfined(served);
  await served.client.request("environmentConfig/read", {
    cwd: `file://${box.work}`,
    configPaths: [["model"]],
    requirementsPaths: [],
  }).catch((error) => assert.match(error.message, /Could not find home directory/));
  assert.equal(served.stderr, "");
});

test("works where no file can be written, and there refuses what needs files", noMounts, async (box) => {
  // Whatever is mounted; what cannot be changed has nothing to do with files.
  const mounts = `while read -r _ place kind _; do
    case $kind in proc|sysfs|devpts|cgroup*|mqueue) ;; *) mount -o remount,bind,ro "$place" 2>/dev/null || true ;; esac
  done < /proc/self/mounts`;
  await using served = await box.serve([], { mounts });
  assert.deepEqual(await served.run(["/bin/sh", "-c", "! (: > file) 2>/dev/null && echo read-only"]), {
    output: "read-only\n",
    exitCode: 0,
    sandboxType: "none",
  });
  assert.equal((await served.run(["/bin/sh", "-c", "test -t 1"], { tty: true })).exitCode, 0);
  await Deno.writeTextFile(`${box.work}/from-outside`, "to be read");
  const read = await served.client.request("fs/readFile", { path: `file://${box.work}/from-outside` });
  assert.deepEqual(read, { dataBase64: btoa("to be read") });
  await assert.rejects(served.run(["/bin/true"], { sandbox: sandboxOf(box.work) }), {
    message: /cannot be (kept in|made where) .*: Read-only file system/,
  });
});

test(
  "needs no place for temporary files from which programs can be run, nor one to be written to itself",
  noMounts,
  async (box) => {
    const mounts = `for place in /tmp /dev/shm; do mount -t tmpfs -o noexec,nosuid,nodev,mode=1777 none $place; done
    mount --bind ${box.root}/bin ${box.root}/bin && mount -o remount,bind,ro ${box.root}/bin`;
    await using served = await box.serve([], { mounts });
    await checkPlain(served, UID_WITH_MOUNTS);
    if (noView === undefined) await checkConfined(served);
  },
);

test("says that it needs /proc", noMounts, async (box) => {
  const { code, stdout, stderr } = await box.run(["--version"], { mounts: "mount -t tmpfs none /proc" });
  assert.notEqual(code, 0);
  assert.equal(stdout, "");
  assert.match(stderr, /Is \/proc mounted\?/);
});

test("goes on when its file is replaced by the same version", noView, async (box) => {
  await using served = await box.serve(["--sandbox", "unshare"]);
  await Deno.copyFile(box.binary, `${box.root}/bin/new`);
  await Deno.rename(`${box.root}/bin/new`, box.binary);
  await checkPlain(served);
  await checkConfined(served);
});

test("confines nothing any more, and says why, when its file is replaced by another version", noView, async (box) => {
  await using served = await box.serve();
  // What is told to be a part of version 0.0.1 is told so by a server of that version.
  const newer = `#!/bin/sh\nexec ${box.root}/bin/real "\${1%=*}=0.0.1" "$2"\n`;
  await Deno.rename(box.binary, `${box.root}/bin/real`);
  await Deno.writeTextFile(box.binary, newer, { mode: 0o755 });
  await checkPlain(served);
  const reason = new RegExp(
    `the server is version 0\\.0\\.1, and the file .* is now ${VERSION}: start the server again`,
  );
  const sandbox = sandboxOf(box.work);
  await assert.rejects(served.run(["/bin/true"], { sandbox }), { message: reason });
  const path = `file://${box.work}/file`;
  await assert.rejects(served.client.request("fs/writeFile", { path, dataBase64: "", sandbox }), { message: reason });
});

test("confines nothing any more, and says why, when its file is gone", noView, async (box) => {
  await using served = await box.serve();
  await Deno.remove(box.binary);
  await checkPlain(served);
  await assert.rejects(served.run(["/bin/true"], { sandbox: sandboxOf(box.work) }), {
    message: /^sandbox unavailable: .*\/bin\/exec-server: (No such file|not found)/,
  });
});
