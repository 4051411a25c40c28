import assert from "node:assert/strict";
import { ExecError } from "../../lib/errors.ts";
import { Base64Error } from "../../lib/base64.ts";
import { disconnected, jsonError, serverError } from "../../lib/client/client_error.ts";
import { RemoteFiles } from "../../lib/client/remote_files.ts";
import { PathUri } from "../../lib/path_uri.ts";
import type { Params } from "../../lib/protocol/methods.ts";
import { FakeHost } from "./support/fake_host.ts";

const METADATA = {
  isDirectory: false,
  isFile: true,
  isSymlink: false,
  size: 3,
  createdAtMs: 0,
  modifiedAtMs: 1_700_000_000_123,
};
const NO_SUCH_FILE = "No such file or directory (os error 2)";

Deno.test("RemoteFiles sends paths as URIs, a sandbox always, and followSymlinks only to forbid it", async () => {
  const host = new FakeHost({
    "fs/readFile": () => ({ dataBase64: new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff]) }),
    "fs/writeFile": () => ({}),
    "fs/createDirectory": () => ({}),
    "fs/getMetadata": () => METADATA,
    "fs/canonicalize": () => ({ path: "file:///real" }),
    "fs/readDirectory": () => ({ entries: [{ fileName: "a", isDirectory: true, isFile: false }] }),
    "fs/walk": () => ({ entries: [], errors: [], truncated: false }),
    "fs/remove": () => ({}),
    "fs/copy": () => ({}),
  });
  const files = new RemoteFiles(host);
  assert.equal(await files.readTextFile("deep dir/a"), "\ufeffa\ufffd");
  await files.readFile("/a", { followSymlinks: false });
  await files.writeTextFile("/a", "hé");
  await files.writeFile(new URL("file:///a"), new Uint8Array(), { followSymlinks: false });
  await files.mkdir("/d");
  await files.mkdir("/d", { recursive: true });
  const { mtime, birthtime, ...others } = await files.stat("/a");
  assert.deepEqual([mtime, birthtime], [new Date(1_700_000_000_123), null]);
  assert.deepEqual(others, { isDirectory: false, isFile: true, isSymlink: false, size: 3 });
  assert.equal(await files.realPath("."), "file:///real");
  assert.deepEqual(await files.readDir("/"), [{ name: "a", isDirectory: true, isFile: false }]);
  await files.walk("/", { maxDepth: 1, pruneHiddenDirectories: true });
  await files.remove("/a");
  await files.remove("/a", { recursive: true, force: true });
  await files.copy("/a", PathUri.parse("file:///b"), { recursive: true });
  const sandbox = null;
  assert.deepEqual(host.asked.map(({ method, params }) => [method, params]), [
    ["fs/getMetadata", { path: "file:///srv/deep%20dir/a", sandbox }],
    ["fs/readFile", { path: "file:///srv/deep%20dir/a", sandbox }],
    ["fs/getMetadata", { path: "file:///a", followSymlinks: false, sandbox }],
    ["fs/readFile", { path: "file:///a", followSymlinks: false, sandbox }],
    ["fs/writeFile", { path: "file:///a", dataBase64: "aMOp", sandbox }],
    ["fs/writeFile", { path: "file:///a", dataBase64: "", followSymlinks: false, sandbox }],
    ["fs/createDirectory", { path: "file:///d", recursive: false, sandbox }],
    ["fs/createDirectory", { path: "file:///d", recursive: true, sandbox }],
    ["fs/getMetadata", { path: "file:///a", sandbox }],
    ["fs/canonicalize", { path: "file:///srv", sandbox }],
    ["fs/readDirectory", { path: "file:///", sandbox }],
    ["fs/walk", {
      path: "file:///",
      options: {
        maxDepth: 1,
        maxDirectories: 10_000,
        maxEntries: 50_000,
        followDirectorySymlinks: false,
        pruneHiddenDirectories: true,
      },
      sandbox,
    }],
    ["fs/remove", { path: "file:///a", recursive: false, force: false, sandbox }],
    ["fs/remove", { path: "file:///a", recursive: true, force: true, sandbox }],
    ["fs/copy", { sourcePath: "file:///a", destinationPath: "file:///b", recursive: true, sandbox }],
  ]);
});

Deno.test("RemoteFiles hands a sandbox on as it is given", async () => {
  const host = new FakeHost({ "fs/getMetadata": () => METADATA });
  const permissions = { type: "disabled" } as const;
  await new RemoteFiles(host).stat("/a", {
    sandbox: {
      permissions,
      sandboxOverride: "noOverride",
      cwd: PathUri.parse("file:///w"),
      policyContext: null,
      workspaceRoots: [],
      userHomeDir: null,
      temporaryDirectories: null,
      windowsSandboxLevel: "disabled",
      windowsSandboxProxySettingsMode: null,
      useLegacyLandlock: false,
    },
  });
  const sent = host.asked[0]!.params["sandbox"] as Record<string, unknown>;
  assert.deepEqual([sent["permissions"], sent["cwd"]], [permissions, "file:///w"]);
});

Deno.test("failures of files have a kind, the server's words, and the system's name where its number is known", async () => {
  const failures = [
    [serverError(-32004, NO_SUCH_FILE), "NotFound", NO_SUCH_FILE, "ENOENT"],
    [
      serverError(-32600, "Permission denied (os error 13)"),
      "InvalidInput",
      "Permission denied (os error 13)",
      "EACCES",
    ],
    [serverError(-32600, "path `/d` is not a file"), "InvalidInput", "path `/d` is not a file", undefined],
    [serverError(-32603, "Is a directory (os error 21)"), "Other", "Is a directory (os error 21)", "EISDIR"],
    [serverError(-32603, "odd (os error 4242)"), "Other", "odd (os error 4242)", undefined],
    [serverError(-32000, "JSON-RPC transport closed"), "BrokenPipe", "exec-server transport closed", undefined],
    [disconnected("gone"), "BrokenPipe", "exec-server transport closed", undefined],
    [
      jsonError("missing field `size`"),
      "Other",
      "failed to serialize or deserialize exec-server JSON: missing field `size`",
      undefined,
    ],
  ] as const;
  for (const [cause, kind, message, code] of failures) {
    const files = new RemoteFiles(new FakeHost({ "fs/getMetadata": () => Promise.reject(cause) }));
    await assert.rejects(files.stat("/a"), { name: "FileError", kind, message, code, cause });
  }
});

Deno.test("readFile says so if what the server calls base64 is none", async () => {
  const refusal = new ExecError("invalidParams", "Invalid padding", { cause: new Base64Error("Invalid padding") });
  const host = new FakeHost({
    "fs/getMetadata": () => METADATA,
    "fs/readFile": () => Promise.reject(jsonError("Invalid padding", refusal)),
  });
  await assert.rejects(new RemoteFiles(host).readFile("/a"), {
    name: "FileError",
    kind: "Other",
    message: "remote fs/readFile returned invalid base64 dataBase64: Invalid padding",
  });
});

Deno.test("a path that is none fails before anything is sent, as does an option that the method has not", async () => {
  const host = new FakeHost({});
  const files = new RemoteFiles(host);
  await assert.rejects(files.readFile("a\0"), { name: "FileError", kind: "InvalidInput", message: /holds a NUL/ });
  const noFollow = { followSymlinks: false };
  for (
    const refused of [
      files.open("/a", noFollow),
      files.create("/a", noFollow),
      files.readDir("/a", noFollow),
      files.realPath("/a", noFollow),
      files.copy("/a", "/b", noFollow),
      files.walk("/a", noFollow),
    ]
  ) {
    await assert.rejects(refused, { name: "FileError", kind: "InvalidInput", message: /cannot be told not to follow/ });
  }
  await assert.rejects(files.open("/a", { offset: -1 }), {
    kind: "InvalidInput",
    message: "-1 is no offset in a file",
  });
  assert.deepEqual(host.asked, []);
});

Deno.test("an aborted call rejects with the signal's reason", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const host = new FakeHost({ "fs/getMetadata": () => promise });
  const aborter = new AbortController();
  const asking = new RemoteFiles(host).stat("/a", { signal: aborter.signal });
  aborter.abort(new Error("enough"));
  await assert.rejects(asking, { message: "enough" });
  resolve(METADATA);
});

Deno.test("equal questions about a file share one request until something is changed", async () => {
  const answers: PromiseWithResolvers<unknown>[] = [];
  const host = new FakeHost({
    "fs/getMetadata": () => {
      answers.push(Promise.withResolvers());
      return answers.at(-1)!.promise;
    },
    "fs/remove": () => ({}),
  });
  const files = new RemoteFiles(host);
  const path = PathUri.parse("file:///a");
  const aborter = new AbortController();
  const shared = [files.stat(path), files.stat("/a"), files.stat(path, { signal: aborter.signal })];
  const others = [files.stat("/b"), files.stat("/a", { followSymlinks: false }), files.stat("/a", { timeoutMs: 9 })];
  await turn();
  assert.equal(answers.length, 4);
  aborter.abort(new Error("enough"));
  await assert.rejects(shared.pop()!, { message: "enough" });
  await files.remove("/c");
  const afresh = files.stat(path);
  await turn();
  assert.equal(answers.length, 5);
  answers[4]!.resolve({ ...METADATA, size: 5 });
  assert.equal((await afresh).size, 5);
  for (const { resolve } of answers) resolve(METADATA);
  for (const { size } of await Promise.all([...shared, ...others])) assert.equal(size, 3);
  answers.length = 0;
  const later = files.stat(path);
  await turn();
  assert.equal(answers.length, 1);
  answers[0]!.reject(disconnected());
  await assert.rejects(later, { kind: "BrokenPipe" });
});

Deno.test("lstat tells a link from what it leads to, also one that leads nowhere", async () => {
  const linked = (path: string) => {
    if (path === "/link") return { ...METADATA, isSymlink: true };
    if (path === "/d/file") return METADATA;
    throw serverError(-32004, NO_SUCH_FILE);
  };
  const host = new FakeHost({
    "fs/getMetadata": (params) => {
      const { path, followSymlinks } = params as Params<"fs/getMetadata">;
      const native = path.text.slice("file://".length);
      if (!followSymlinks && native === "/real/dangling") throw serverError(-32600, "path contains a symbolic link");
      return linked(native);
    },
    "fs/canonicalize": (params) => {
      if ((params as Params<"fs/canonicalize">).path.text !== "file:///d") throw serverError(-32004, NO_SUCH_FILE);
      return { path: "file:///real" };
    },
  });
  const files = new RemoteFiles(host);
  const { isSymlink, isFile, mtime } = await files.lstat("/link");
  assert.deepEqual([isSymlink, isFile, mtime], [true, false, null]);
  assert.equal((await files.lstat("/d/file")).isSymlink, false);
  assert.equal((await files.lstat("/d/dangling")).isSymlink, true);
  await assert.rejects(files.lstat("/d/nothing"), { kind: "NotFound" });
  await assert.rejects(files.lstat("/nowhere/nothing"), { kind: "NotFound" });
});

/** Long enough for promises that have been resolved. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
