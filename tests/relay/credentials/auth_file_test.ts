import assert from "node:assert/strict";
import { JsonNumber } from "../../../lib/json.ts";
import { mayMount } from "../../fs/linux/mounts.ts";
import { authFile } from "../../../lib/relay/credentials/auth_file.ts";

interface Place extends AsyncDisposable {
  readonly directory: string;
  readonly path: string;
}

async function place(text?: string): Promise<Place> {
  const directory = await Deno.realPath(await Deno.makeTempDir());
  const path = `${directory}/auth.json`;
  if (text !== undefined) await Deno.writeTextFile(path, text, { mode: 0o644 });
  return { directory, path, [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }) };
}

function names(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
}

Deno.test("a sign-in file is replaced whole, for its owner alone, with all that it holds", async () => {
  await using home = await place('{"a":[1.50,{"b":null},[],{}],"__proto__":"x","tokens":{"t":"1"}}');
  const store = authFile(home.path);
  const file = await store.read();
  await store.replace(new Map(file).set("last", "now").set("n", new JsonNumber("12345678901234567890")));
  assert.equal(
    await Deno.readTextFile(home.path),
    `{
  "a": [
    1.50,
    {
      "b": null
    },
    [],
    {}
  ],
  "__proto__": "x",
  "tokens": {
    "t": "1"
  },
  "last": "now",
  "n": 12345678901234567890
}
`,
  );
  assert.equal((await Deno.stat(home.path)).mode! & 0o777, 0o600);
  assert.deepEqual(names(home.directory), ["auth.json"]);
});

Deno.test("whoever reads a sign-in file while it is replaced sees the old one or the new one", async () => {
  await using home = await place('{"old":1}');
  const old = await Deno.open(home.path);
  await authFile(home.path).replace(new Map([["new", true]]));
  using _closed = old;
  const bytes = new Uint8Array(100);
  assert.equal(new TextDecoder().decode(bytes.subarray(0, (await old.read(bytes))!)), '{"old":1}');
});

Deno.test("a link to a sign-in file stays one", async () => {
  await using home = await place('{"old":1}');
  await using other = await place();
  await Deno.symlink(home.path, other.path);
  await authFile(other.path).replace(new Map([["new", true]]));
  assert.equal((await Deno.lstat(other.path)).isSymlink, true);
  assert.equal(await Deno.readTextFile(home.path), '{\n  "new": true\n}\n');
  assert.deepEqual(names(other.directory), ["auth.json"]);
});

Deno.test("a sign-in file that is gone is not made anew", async () => {
  await using home = await place();
  const store = authFile(home.path);
  assert.equal(await store.read(), undefined);
  await assert.rejects(store.replace(new Map()), { name: "UnusableFile", message: /^No such file or directory/ });
  assert.deepEqual(names(home.directory), []);
});

Deno.test("a failed replacement leaves the old file and nothing beside it", async () => {
  await using home = await place();
  // A directory cannot be replaced by a file: the renaming fails, after all is written.
  await Deno.mkdir(`${home.path}/x`, { recursive: true });
  await assert.rejects(authFile(home.path).replace(new Map()), { name: "UnusableFile", message: /directory/ });
  assert.deepEqual(names(home.directory), ["auth.json"]);
});

Deno.test("a sign-in file that no other can be put in the place of is written over", async () => {
  await using home = await place();
  // The longest name that a file may have: there is none for a new file beside it.
  const path = `${home.directory}/${"a".repeat(255)}`;
  await Deno.writeTextFile(path, `{"old":"${"x".repeat(100)}"}`, { mode: 0o600 });
  await authFile(path).replace(new Map([["new", true]]));
  assert.equal(await Deno.readTextFile(path), '{\n  "new": true\n}\n');
  assert.equal(names(home.directory).length, 1);
});

Deno.test("a sign-in file that is mounted alone is written over, and one on a full disk is left alone", {
  ignore: !mayMount,
}, async () => {
  await using home = await place('{"old":1}');
  await Deno.mkdir(`${home.directory}/disk`);
  const program = new URL("replace_program.ts", import.meta.url).pathname;
  const script = `cd "$0"; mount --bind auth.json auth.json; mount -t tmpfs -o size=64k none disk
    echo '{"old":1}' > disk/auth.json; head -c 100000 /dev/zero > disk/rest 2>/dev/null || true
    for file in auth.json disk/auth.json; do "$@" $file; cat $file; done`;
  const command = new Deno.Command("unshare", {
    args: [
      "--mount",
      "--propagation",
      "private",
      "sh",
      "-ec",
      script,
      home.directory,
      Deno.execPath(),
      "run",
      "-A",
      program,
    ],
  });
  const { stdout, stderr } = await command.output();
  const failure = "No space left on device (os error 28)";
  assert.equal(
    new TextDecoder().decode(stdout),
    `{\n  "new": true\n}\n${failure}\n{"old":1}\n`,
    new TextDecoder().decode(stderr),
  );
});

Deno.test("a sign-in file that cannot be used is told by what it is, without what it holds", async () => {
  const cases = [
    ['["secret"]', "it does not hold a JSON object"],
    ['{"secret', "it does not hold a JSON object"],
    ['{"a":1,"a":2}', "it does not hold a JSON object"],
    [`{"a":"${"x".repeat(1024 * 1024)}"}`, "it has more than 1048576 bytes"],
  ];
  for (const [text, message] of cases) {
    await using home = await place(text);
    await assert.rejects(authFile(home.path).read(), { name: "UnusableFile", message: message! });
  }
  await using home = await place();
  await Deno.writeFile(home.path, Uint8Array.of(0x7b, 0xff));
  await assert.rejects(authFile(home.path).read(), { message: "it is not UTF-8" });
  await assert.rejects(authFile(home.directory).read(), { message: "it is a directory" });
});
