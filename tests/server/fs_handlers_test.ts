import assert from "node:assert/strict";
import { ExecError } from "../../lib/errors.ts";
import { ConnectionFiles } from "../../lib/fs/connection_files.ts";
import { systemFiles } from "../../lib/fs/backend.ts";
import { Turns } from "../../lib/fs/turns.ts";
import { parseJson } from "../../lib/json.ts";
import { silentLog } from "../../lib/log.ts";
import { REQUESTS } from "../../lib/protocol/methods.ts";
import { toRpcError } from "../../lib/rpc/error_code.ts";
import { type Confine, fsHandlers } from "../../lib/server/fs_handlers.ts";
import type { CallContext, Handler } from "../../lib/server/handler.ts";
import { Scratch } from "../fs/scratch.ts";
import { globEntry, pathEntry, restricted, specialEntry } from "../support/sandbox_documents.ts";

// Opens the C library before a test could be blamed for it.
(await systemFiles({ log: silentLog }))[Symbol.dispose]();

const IGNORE = Deno.build.os !== "linux";

type Name = keyof ReturnType<typeof fsHandlers>;
type Params = Readonly<Record<string, unknown>>;

/** Asks a server's handlers, whose sandbox is that of the test; what they answer is an error or anything else. */
class Asked implements AsyncDisposable {
  readonly #scratch = new Scratch();
  readonly #operations = systemFiles({ log: silentLog });
  readonly #connection: Promise<ConnectionFiles>;
  /** How often something was to be confined. */
  confined = 0;

  /** @param holds Whether policies can be held. */
  constructor(readonly holds: boolean) {
    Deno.mkdirSync(`${this.#scratch.root}/ws`);
    Deno.writeTextFileSync(`${this.#scratch.root}/ws/a`, "a");
    const { signal } = new AbortController();
    this.#connection = this.#operations.then((operations) =>
      new ConnectionFiles({ operations, turns: new Turns(), signal, budgetMs: () => 5 })
    );
  }

  async ask(name: Name, params: Params): Promise<readonly [code: number, message: string] | "done"> {
    const files = await this.#connection;
    const operations = await this.#operations;
    const confine: Confine = (demand, check) => {
      this.confined++;
      demand();
      if (!this.holds) throw new ExecError("internal", "not confined");
      check?.();
      return operations;
    };
    const handlers = fsHandlers({ files: () => files, confine, keepsSecrets: false });
    try {
      const json = JSON.stringify(params).replaceAll("<r>", this.#scratch.root);
      const decoded = REQUESTS[name].params.decode(parseJson(json));
      await (handlers[name] as Handler<Name>)(decoded as never, {} as CallContext);
      return "done";
    } catch (error) {
      const rpcError = toRpcError(error);
      if (rpcError === undefined) throw error;
      assert.equal(rpcError.data, undefined);
      return [rpcError.code, rpcError.message];
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#connection)[Symbol.dispose]();
    (await this.#operations)[Symbol.dispose]();
    this.#scratch[Symbol.dispose]();
  }
}

const readAll = specialEntry("root", "read"), workspace = pathEntry("file://<r>/ws", "write");
const foreign = pathEntry("file://h/x", "read"), roots = specialEntry("project_roots", "write");
const sandbox = (entries: unknown[], more: Params = {}) => ({ sandbox: restricted(entries, more) });
const file = { path: "file://<r>/ws/a" }, elsewhere = { path: "file://h2/q" };
const data = { dataBase64: "YQ==" }, noData = { dataBase64: "Y" };
const noEntries = { maxDepth: 1, maxDirectories: 1, maxEntries: 0, followDirectorySymlinks: false };
const tree = { path: "file://<r>/ws", options: noEntries };
const copy = { sourcePath: "file://<r>/ws/a", destinationPath: "file://<r>/ws/b", recursive: false };
const mxc = { windowsSandboxLevel: "mxc" };

const invalid = (host: string) => [-32600, `'file://${host}' is invalid on 'linux'`] as const;
const badEntry = [-32600, "invalid sandbox permission path URI: 'file://h/x' is invalid on 'linux'"] as const;
const badRoot = [-32600, "invalid sandbox workspace root: 'file://h3/x' is invalid on 'linux'"] as const;
const badData = [-32600, "fs/writeFile requires valid base64 dataBase64: Invalid input length: 1"] as const;
const needsCwd = [-32602, "file system sandbox context with dynamic permissions requires cwd"] as const;
const noLimit = [-32600, "filesystem walk limits must be greater than zero"] as const;
const noMxc = [
  -32600,
  "failed to prepare fs sandbox: failed to prepare MXC sandbox: native MXC is unavailable on this executor",
] as const;
const notHeld = [-32603, "not confined"] as const;

/** What the reference says first when several things are wrong; where its sandbox fails, ours does. */
const FIRST: readonly (readonly [Name, Params, readonly [number, string] | "done"])[] = [
  ["fs/readFile", { ...file, ...sandbox([readAll], { cwd: "file://h/x" }) }, "done"],
  ["fs/readFile", { ...file, ...sandbox([readAll, roots], { cwd: "file://h/x" }) }, "done"],
  ["fs/readFile", { ...file, ...sandbox([readAll, foreign], { cwd: "file://h/x" }) }, badEntry],
  ["fs/readFile", { ...elsewhere, ...sandbox([readAll], { cwd: "file://h/x" }) }, invalid("h2/q")],
  ["fs/readFile", { ...elsewhere, ...sandbox([readAll, foreign]) }, badEntry],
  [
    "fs/readFile",
    { ...file, ...sandbox([readAll, roots], { cwd: "file:///", workspaceRoots: ["file://h3/x"] }) },
    "done",
  ],
  ["fs/readFile", { ...file, ...sandbox([readAll], mxc) }, "done"],
  ["fs/readFile", { ...elsewhere, ...sandbox([workspace]) }, invalid("h2/q")],
  ["fs/readFile", { ...elsewhere, ...sandbox([readAll, globEntry("/**/*")]) }, invalid("h2/q")],
  ["fs/readFile", { ...file, ...sandbox([workspace]) }, notHeld],
  ["fs/getMetadata", { ...file, ...sandbox([workspace]) }, notHeld],
  ["fs/canonicalize", { ...file, ...sandbox([workspace]) }, notHeld],
  ["fs/readDirectory", { ...file, ...sandbox([workspace]) }, notHeld],
  ["fs/walk", { ...tree, ...sandbox([readAll]) }, noLimit],
  ["fs/walk", { ...tree, ...elsewhere }, noLimit],
  ["fs/walk", { ...tree, ...elsewhere, ...sandbox([readAll]) }, noLimit],
  ["fs/walk", { ...tree, ...sandbox([readAll, foreign]) }, badEntry],
  ["fs/walk", { ...tree, ...sandbox([workspace, foreign]) }, badEntry],
  ["fs/walk", { ...tree, ...elsewhere, ...sandbox([workspace]) }, invalid("h2/q")],
  ["fs/walk", { ...tree, ...sandbox([workspace]) }, notHeld],
  ["fs/walk", { ...tree, ...sandbox([roots]) }, needsCwd],
  ["fs/writeFile", { ...file, ...noData, ...sandbox([workspace], { cwd: "file://h/x" }) }, badData],
  ["fs/writeFile", { ...file, ...noData, ...sandbox([readAll, foreign]) }, badData],
  ["fs/writeFile", { ...file, ...noData, ...sandbox([roots]) }, needsCwd],
  ["fs/writeFile", { ...elsewhere, ...data, ...sandbox([workspace], { cwd: "file://h/x" }) }, invalid("h2/q")],
  ["fs/writeFile", { ...elsewhere, ...data, ...sandbox([workspace], mxc) }, invalid("h2/q")],
  [
    "fs/writeFile",
    { ...file, ...data, ...sandbox([workspace], { cwd: "file://h/x", workspaceRoots: ["file://h3/x"] }) },
    invalid("h/x"),
  ],
  ["fs/writeFile", { ...file, ...data, ...sandbox([workspace], { workspaceRoots: ["file://h3/x"], ...mxc }) }, badRoot],
  ["fs/writeFile", { ...file, ...data, ...sandbox([readAll, workspace, globEntry("/**/*")], mxc) }, noMxc],
  ["fs/writeFile", { ...file, ...data, ...sandbox([readAll, workspace]) }, notHeld],
  ["fs/writeFile", { ...file, ...data, ...sandbox([specialEntry("root", "write")], mxc) }, "done"],
  ["fs/createDirectory", { ...file, ...sandbox([readAll, workspace]) }, notHeld],
  ["fs/remove", { ...file, ...sandbox([readAll, workspace]) }, notHeld],
  ["fs/copy", { ...copy, ...sandbox([readAll, workspace]) }, notHeld],
  ["fs/copy", { ...copy, destinationPath: "file://h2/q", ...sandbox([readAll, workspace]) }, invalid("h2/q")],
  [
    "fs/copy",
    { ...copy, sourcePath: "file://h1/q", destinationPath: "file://h2/q", ...sandbox([workspace]) },
    invalid("h1/q"),
  ],
  ["fs/copy", { ...copy, sourcePath: "file://h1/q", ...sandbox([workspace, foreign]) }, badEntry],
  ["fs/open", { handleId: "h", ...file }, "done"],
  ["fs/open", { handleId: "h", ...file, ...sandbox([readAll, roots]) }, needsCwd],
  ["fs/open", { handleId: "h", ...file, ...sandbox([foreign]) }, [-32600, "file handle `h` already exists"]],
  ["fs/open", { handleId: "h", ...file, ...sandbox([workspace]) }, [-32600, "file handle `h` already exists"]],
  ["fs/open", { handleId: "h".repeat(33), ...file, ...sandbox([foreign]) }, [
    -32600,
    "file handle ID must not exceed 32 bytes",
  ]],
  ["fs/open", { handleId: "i", ...elsewhere, ...sandbox([foreign]) }, badEntry],
  ["fs/open", { handleId: "i", ...elsewhere, ...sandbox([workspace]) }, invalid("h2/q")],
  ["fs/open", { handleId: "i", ...file, ...sandbox([workspace], { cwd: "file://h/x" }) }, invalid("h/x")],
  ["fs/open", { handleId: "i", ...file, mode: "replace", ...sandbox([readAll, workspace]) }, notHeld],
  ["fs/open", { handleId: "i", ...file, ...sandbox([readAll, workspace]) }, "done"],
];

Deno.test("what is wrong with a request in a sandbox is told in the order of the reference", {
  ignore: IGNORE,
}, async () => {
  await using asked = new Asked(false);
  for (const [name, params, first] of FIRST) {
    assert.deepEqual(await asked.ask(name, params), first, `${name} ${JSON.stringify(params)}`);
  }
});

Deno.test("what a sandbox does not restrict is not confined, everything else is", { ignore: IGNORE }, async () => {
  await using asked = new Asked(true);
  const all: readonly [Name, Params][] = [
    ["fs/readFile", file],
    ["fs/open", { handleId: "h", ...file }],
    ["fs/getMetadata", file],
    ["fs/canonicalize", file],
    ["fs/readDirectory", { path: "file://<r>/ws" }],
    ["fs/walk", { path: "file://<r>/ws", options: { ...noEntries, maxEntries: 9 } }],
    ["fs/writeFile", { ...file, ...data }],
    ["fs/open", { handleId: "i", mode: "replace", ...file }],
    ["fs/createDirectory", { path: "file://<r>/ws/d" }],
    ["fs/copy", copy],
    ["fs/remove", { path: "file://<r>/ws/d" }],
  ];
  const READING = 6;
  const times = async (entries: unknown[] | null) => {
    asked.confined = 0;
    for (const [name, params] of all) {
      const confining = entries === null ? {} : sandbox(entries);
      assert.equal(await asked.ask(name, { ...params, ...confining }), "done", name);
      if ("handleId" in params) await asked.ask("fs/close", { handleId: params["handleId"] });
    }
    return asked.confined;
  };
  assert.equal(await times(null), 0);
  assert.equal(await times([specialEntry("root", "write")]), 0);
  assert.equal(await times([readAll, workspace]), all.length - READING);
  assert.equal(await times([workspace]), all.length);
});

Deno.test("the limits of a walk are looked at in the sandbox", { ignore: IGNORE }, async () => {
  await using asked = new Asked(true);
  assert.deepEqual(await asked.ask("fs/walk", { ...tree, ...sandbox([workspace]) }), noLimit);
  assert.equal(asked.confined, 1);
});
