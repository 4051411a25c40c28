import assert from "node:assert/strict";
import { type DetachedProcess, DetachedProcesses, stateDirectory } from "../../lib/cli/state.ts";

const unlessWindows = { ignore: Deno.build.os === "windows" };

const PROCESS: DetachedProcess = {
  id: "d3b07384",
  target: { url: "ws://127.0.0.1:8765" },
  tokenFile: "/home/me/token",
  sessionId: "0d0c0b0a-0000-4000-8000-000000000000",
  startedAt: new Date("2026-01-02T03:04:05.678Z"),
  program: "make",
};

/** A state directory that is not there yet, in a place of its own. */
async function place() {
  const root = await Deno.makeTempDir({ prefix: "exec-server-state-" });
  const directory = `${root}/state/exec-server`;
  return {
    directory,
    file: (id: string) => `${directory}/detached/${id}.json`,
    processes: new DetachedProcesses(directory),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

Deno.test("a detached process is remembered as it was said, and forgotten", async () => {
  await using at = await place();
  assert.deepEqual((await at.processes.list()).processes, []);
  await at.processes.save(PROCESS);
  assert.deepEqual(await at.processes.list(), { processes: [PROCESS], faults: [] });
  assert.deepEqual(await at.processes.find(PROCESS.id), PROCESS);
  await at.processes.forget(PROCESS.id);
  await at.processes.forget(PROCESS.id);
  assert.deepEqual((await at.processes.list()).processes, []);
});

Deno.test("detached processes are listed from the oldest on", async () => {
  await using at = await place();
  const younger = { ...PROCESS, id: "a", target: { env: "box" }, startedAt: new Date("2026-02-01T00:00:00Z") };
  await at.processes.save(younger);
  await at.processes.save(PROCESS);
  assert.deepEqual((await at.processes.list()).processes.map(({ id }) => id), [PROCESS.id, "a"]);
});

Deno.test("an id may be abbreviated as long as it means one process", async () => {
  await using at = await place();
  for (const id of ["abc1", "abc2", "abc"]) await at.processes.save({ ...PROCESS, id });
  assert.equal((await at.processes.find("abc1")).id, "abc1");
  assert.equal((await at.processes.find("abc")).id, "abc", "a whole id is not an abbreviation");
  await assert.rejects(at.processes.find("ab"), {
    name: "StateError",
    message: "'ab' is the beginning of 3 ids: abc, abc1, abc2",
  });
  await assert.rejects(at.processes.find("x"), {
    name: "StateError",
    message: /no detached process 'x' is remembered/,
  });
  await assert.rejects(at.processes.find(""), { name: "StateError" });
});

Deno.test("a file of state is for its user alone, and leaves nothing beside it", unlessWindows, async () => {
  await using at = await place();
  await at.processes.save(PROCESS);
  const mode = async (path: string) => ((await Deno.stat(path)).mode ?? 0) & 0o777;
  assert.equal(await mode(at.file(PROCESS.id)), 0o600);
  assert.equal(await mode(`${at.directory}/detached`), 0o700);
  assert.equal(await mode(at.directory), 0o700);
  assert.deepEqual((await Array.fromAsync(Deno.readDir(`${at.directory}/detached`))).map(({ name }) => name), [
    `${PROCESS.id}.json`,
  ]);
});

Deno.test("what others can read is refused, with the way to close it", unlessWindows, async () => {
  await using at = await place();
  await at.processes.save(PROCESS);
  await Deno.chmod(at.file(PROCESS.id), 0o640);
  const expected = {
    name: "StateError",
    message: `${at.file(PROCESS.id)} is open to other users (mode 0640); \`chmod go= '${
      at.file(PROCESS.id)
    }'\` closes it`,
  };
  await at.processes.save({ ...PROCESS, id: "good" });
  const { processes, faults } = await at.processes.list();
  assert.deepEqual(processes.map(({ id }) => id), ["good"], "the others are listed");
  assert.deepEqual(faults.map(({ message }) => message), [expected.message]);
  await assert.rejects(at.processes.find(PROCESS.id), expected);
  await Deno.chmod(`${at.directory}/detached`, 0o755);
  await assert.rejects(at.processes.save({ ...PROCESS, id: "other" }), { name: "StateError", message: /mode 0755/ });
});

Deno.test("a file that is not ours is refused by its name", async () => {
  await using at = await place();
  await at.processes.save(PROCESS);
  for (const text of ["", "[]", "{}", '{"version":1}', JSON.stringify({ ...PROCESS, version: 2 })]) {
    await Deno.writeTextFile(at.file(PROCESS.id), text);
    await assert.rejects(at.processes.find(PROCESS.id), {
      name: "StateError",
      message: `${at.file(PROCESS.id)} does not describe a detached process; remove it`,
    });
  }
});

Deno.test(
  "what is no file is not opened: a pipe would keep it waiting, a link leads elsewhere",
  unlessWindows,
  async () => {
    await using at = await place();
    await at.processes.save(PROCESS);
    await new Deno.Command("mkfifo", { args: ["-m", "600", at.file("pipe")] }).output();
    await Deno.symlink(at.file(PROCESS.id), at.file("link"));
    await Deno.mkdir(at.file("directory"), { mode: 0o700 });
    const { processes, faults } = await at.processes.list();
    assert.deepEqual(processes, [PROCESS]);
    assert.deepEqual(
      faults.map(({ message }) => message),
      ["directory", "link", "pipe"].map((id) => `${at.file(id)} is no file; remove it`),
    );
  },
);

Deno.test("state that cannot be written is an error that names the place", unlessWindows, async () => {
  await using at = await place();
  await Deno.mkdir(at.directory, { recursive: true });
  await Deno.writeTextFile(`${at.directory}/detached`, "in the way");
  await assert.rejects(at.processes.save(PROCESS), {
    name: "StateError",
    message: new RegExp(`cannot remember the process in ${at.directory}/detached: `),
  });
});

Deno.test("the state directory follows the system's rules", () => {
  const env = (values: Record<string, string>) => (name: string) => values[name];
  assert.equal(stateDirectory(env({ HOME: "/h" }), "linux"), "/h/.local/state/exec-server");
  assert.equal(stateDirectory(env({ HOME: "/h", XDG_STATE_HOME: "/x" }), "linux"), "/x/exec-server");
  assert.equal(stateDirectory(env({ HOME: "/h", XDG_STATE_HOME: "x" }), "linux"), "/h/.local/state/exec-server");
  assert.equal(stateDirectory(env({ HOME: "/h" }), "darwin"), "/h/Library/Application Support/exec-server");
  assert.equal(stateDirectory(env({ LOCALAPPDATA: "C:\\L" }), "windows"), "C:\\L\\exec-server");
  assert.throws(() => stateDirectory(env({}), "linux"), { name: "StateError", message: /HOME/ });
  assert.throws(() => stateDirectory(env({}), "windows"), { name: "StateError", message: /LOCALAPPDATA/ });
});
