import assert from "node:assert/strict";
import { Guard } from "./guard.ts";
import * as posix from "./posix.ts";

const ignore = Deno.build.os !== "linux";

interface Scene extends Disposable {
  /** The guarded directory. It holds `file`, `sub/`, and links: `in` to sub, `up` to `..`, `out` to a neighbour. */
  readonly directory: string;
  readonly guard: Guard;
}

function scene(links: "inside" | "all" = "all"): Scene {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "exec-server-guard-" }));
  const directory = `${root}/own`;
  for (const path of [directory, `${root}/other`, `${directory}/sub`]) posix.mkdir(path);
  posix.write(`${directory}/file`, new Uint8Array());
  posix.symlink("sub", `${directory}/in`);
  if (links === "all") {
    posix.symlink("..", `${directory}/up`);
    posix.symlink(`${root}/other`, `${directory}/out`);
    posix.symlink("loop", `${directory}/loop`);
  }
  return { directory, guard: new Guard(directory), [Symbol.dispose]: () => posix.removeTree(root) };
}

function request(method: string, params: unknown): string {
  return JSON.stringify({ id: 1, method, params });
}

Deno.test({ name: "the guard lets pass what stays below the directory, however it is spelled", ignore }, () => {
  using own = scene("inside");
  const at = own.directory;
  const spellings = [
    `file://${at}/file`,
    `FILE://localhost${at}/sub/../file`,
    `file:${at}/new/deeper`,
    `file:${at.slice(1)}/file`,
    ` file://${at}//in/%2e%2E/x\n`,
    `file:\\\\${at.replaceAll("/", "\\")}\\sub`,
    `file://example.com${at}/file`,
    `file://u@localhost:80${at}/file`,
    `file://${at}/%FF%zz%`,
    `file://${at}%2Fsub%2F..%2Ffile`,
    `file://${at}/file%00`,
    `file://${at}/file?q#f`,
    "relative",
    `http://x${at}/y`,
    "",
  ];
  for (const path of spellings) assert.equal(own.guard.refusal(request("fs/remove", { path })), null, path);
});

Deno.test({ name: "the guard refuses every path that leads outside in any reading", ignore }, () => {
  using own = scene("inside");
  const at = own.directory;
  const spellings = [
    "file:",
    "file:///",
    "/",
    "/etc",
    "..",
    "../other",
    "file:etc",
    "file:///etc/passwd",
    `file://${at}`, // itself
    `file://${at}/sub/..`,
    `file://${at}/..`,
    `file://${at}/../other`,
    `file://${at}/%2e%2e/other`,
    `file://${at}/sub%2F..%2F..%2Fother`,
    `file://${at}/new%2F..%2F..%2Fother`,
    `file://${at}/../own/file/../../other`,
    `file://${at}er/file`,
    `file://${at}%00/file`,
    `file://${at}/../other%00/../../own/x`,
    `FILE:\\\\localhost\\..\\etc`,
    "file:///C:/x",
    "file:///c%3A/x",
    "http://x/y",
    `${at}/../other`,
    `file://${at}/in%2F..%2F..%2Fother`, // inside behind the link, outside by the names
    `file://${at}/sub%2F.%2F..%2F..%2Fother`,
    `in%2F..%2F..%2Fother`,
    `sub/x/../../../../other`,
    `%2Fetc`,
  ];
  for (const path of spellings) assert.notEqual(own.guard.refusal(request("fs/remove", { path })), null, path);
});

Deno.test({ name: "the guard finds paths in any parameter and in arrays", ignore }, () => {
  using own = scene("inside");
  const [inside, outside] = [`file://${own.directory}/file`, "file:///etc/x"];
  for (
    const params of [
      { sourcePath: inside, destinationPath: outside, recursive: true },
      { sourcePath: outside, destinationPath: inside, recursive: true },
      [inside, outside, true],
      { path: inside, sandbox: { cwd: [outside] } },
    ]
  ) assert.notEqual(own.guard.refusal(request("fs/copy", params)), null, JSON.stringify(params));
  const watch = (missing: string[]) => request("fs/watchMissing", { watchId: 1, missing, present: inside });
  assert.equal(own.guard.refusal(watch([inside])), null);
  assert.notEqual(own.guard.refusal(watch([inside, outside])), null);
  assert.equal(own.guard.refusal(request("fs/writeFile", { path: inside, dataBase64: "/w==" })), null);
  // Reading may name the directory itself, changing may not.
  const itself = { handleId: "h", path: `file://${own.directory}` };
  assert.equal(own.guard.refusal(request("fs/open", itself)), null);
  for (const mode of ["replace", { replace: null }]) {
    assert.notEqual(own.guard.refusal(request("fs/open", { ...itself, mode })), null);
  }
});

Deno.test({ name: "the guard follows links, and refuses to change anything while one leads outside", ignore }, () => {
  using own = scene("all");
  const at = own.directory;
  for (const name of ["out", "out/x", "up", "up/other", "in%2F..%2F..%2Fother"]) {
    const reason = own.guard.refusal(request("fs/readFile", { path: `file://${at}/${name}` }));
    assert.match(reason!, /outside|is not in/, name);
  }
  for (const name of ["in/x", "loop/x", "up/own/file"]) {
    assert.equal(own.guard.refusal(request("fs/readFile", { path: `file://${at}/${name}` })), null, name);
  }
  assert.match(own.guard.refusal(request("fs/remove", { path: `file://${at}/file` }))!, /the link ".*(out|up)"/);
});

Deno.test({ name: "the guard refuses a copy that would turn a relative link outwards", ignore }, () => {
  using own = scene("inside");
  const at = own.directory;
  posix.mkdir(`${at}/sub/deep`);
  posix.symlink("../../file", `${at}/sub/deep/link`);
  const copy = (sourcePath: string, destinationPath: string) =>
    own.guard.refusal(request("fs/copy", {
      sourcePath: `file://${at}/${sourcePath}`,
      destinationPath: `file://${at}/${destinationPath}`,
      recursive: true,
    }));
  assert.equal(copy("sub", "twin"), null);
  assert.equal(copy("sub/deep/link", "sub/deep/twin"), null);
  assert.match(copy("sub/deep/link", "twin")!, /^copied, the link/);
  assert.match(copy("sub/deep", "twin")!, /^copied, the link/);
  assert.match(copy("in/deep", "twin/")!, /^copied, the link/);
});

Deno.test({ name: "the guard refuses what it cannot judge", ignore }, () => {
  using own = scene("inside");
  const path = `file://${own.directory}/file`;
  for (
    const text of [
      request("process/start", {}),
      request("fs/rename", { path }),
      request("http/request", {}),
      `[${request("fs/remove", { path })}]`,
      request("fs/remove", { path }).replace("}}", "}"),
      request("fs/remove", { path }).replace('"path"', ' "path"'),
      request("fs/remove", { path }).replace('"path"', '"path":"file:///etc","path"'),
      request("fs/remove", { path }).replace("file:", "fil\\u0065:"),
      JSON.stringify({ id: 1, method: "fs/remove", params: { path }, more: 1 }),
      JSON.stringify({ id: 1, method: ["fs/remove"], params: { path } }),
      request("fs/remove", { path: path + "/x".repeat(10_000) }),
    ]
  ) assert.notEqual(own.guard.refusal(text), null, text);
  assert.equal(own.guard.refusal(request("fs/remove", { path: path + "/x".repeat(2_040) })), null);
  const numbers = `{"id":1,"method":"fs/readBlock","params":{"handleId":"h","offset":18446744073709551616,"len":1.0}}`;
  assert.equal(own.guard.refusal(numbers), null);
});

Deno.test({ name: "the guard needs a directory to which no link leads", ignore }, () => {
  using own = scene("inside");
  for (const path of [`${own.directory}/in`, `${own.directory}/file`, `${own.directory}/none`, `${own.directory}/`]) {
    assert.throws(() => new Guard(path), /is no directory/, path);
  }
});
