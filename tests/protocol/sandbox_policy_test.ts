import assert from "node:assert/strict";
import { parseJson } from "../../lib/json.ts";
import { PathUri } from "../../lib/path_uri.ts";
import { discoverySandboxContext, sandboxContext } from "../../lib/protocol/sandbox.ts";
import { filePolicy, programPolicy } from "../../lib/protocol/sandbox_policy.ts";

const FOREIGN = "file://h.example/x";
const INVALID = `'${FOREIGN}' is invalid on 'linux'`;
const IGNORE = Deno.build.os !== "linux";

function managed(entries: unknown[] = [], more: Record<string, unknown> = {}) {
  return {
    permissions: { type: "managed", file_system: { type: "restricted", entries }, network: "restricted" },
    windowsSandboxLevel: "disabled",
    ...more,
  };
}

const path = (uri: string, access = "write") => ({ path: { type: "path", path: uri }, access });
const special = (value: unknown, access = "write") => ({ path: { type: "special", value }, access });

function decoded(json: unknown) {
  return sandboxContext.decode(parseJson(JSON.stringify(json)));
}

function forProgram(
  json: unknown,
  { cwd = "file:///home/w", env = {} }: { cwd?: string; env?: Record<string, string> } = {},
) {
  return programPolicy(decoded(json), { cwd: PathUri.parse(cwd, "linux"), env: new Map(Object.entries(env)) }).policy;
}

function restricted({ fileSystem }: ReturnType<typeof filePolicy>) {
  assert(fileSystem !== "unrestricted");
  return fileSystem;
}

Deno.test("every kind of entry becomes its like on this machine's paths", { ignore: IGNORE }, () => {
  const entries = [
    path("file:///a/b%20c/%C3%A4%FF", "read"),
    { path: { type: "glob_pattern", pattern: "**/ä" }, access: "none" },
    special({ kind: "root" }, "read"),
    special({ kind: "minimal" }, "read"),
    special({ kind: "project_roots" }),
    special({ kind: "current_working_directory", subpath: "ä" }, "deny"),
    special({ kind: "tmpdir" }),
    special({ kind: "slash_tmp" }),
    special({ kind: "unknown", path: "later" }),
  ];
  const policy = filePolicy(decoded(managed(entries, { cwd: "file:///w", workspaceRoots: ["file:///w/1"] })));
  assert.equal(policy.network, "restricted");
  assert.deepEqual(restricted(policy), {
    entries: [
      { path: { kind: "path", path: "/a/b c/\xc3\xa4\xff" }, access: "read" },
      { path: { kind: "glob", pattern: "**/\xc3\xa4" }, access: "deny" },
      { path: { kind: "root" }, access: "read" },
      { path: { kind: "minimal" }, access: "read" },
      { path: { kind: "projectRoots", subpath: null }, access: "write" },
      { path: { kind: "projectRoots", subpath: "\xc3\xa4" }, access: "deny" },
      { path: { kind: "tmpdir" }, access: "write" },
      { path: { kind: "slashTmp" }, access: "write" },
      { path: { kind: "unknown" }, access: "write" },
    ],
    globScanMaxDepth: null,
    cwd: "/w",
    workspaceRoots: ["/w/1"],
    tmpdir: null,
  });
});

Deno.test("what is not managed leaves the files alone", { ignore: IGNORE }, () => {
  const policyOf = (permissions: unknown) => filePolicy(decoded({ permissions, windowsSandboxLevel: "disabled" }));
  assert.deepEqual(policyOf({ type: "disabled" }), { fileSystem: "unrestricted", network: "enabled" });
  assert.deepEqual(policyOf({ type: "external", network: "restricted" }), {
    fileSystem: "unrestricted",
    network: "restricted",
  });
  const unrestricted = { type: "managed", file_system: { type: "unrestricted" }, network: "enabled" };
  assert.deepEqual(policyOf(unrestricted), { fileSystem: "unrestricted", network: "enabled" });
});

Deno.test("a newer context has the only roots, and its directory wins where it names one", { ignore: IGNORE }, () => {
  const outer = { cwd: "file:///outer", workspaceRoots: ["file:///outer/root"] };
  const contextOf = (policyContext: unknown) => {
    const { cwd, workspaceRoots } = restricted(forProgram(managed([], { ...outer, policyContext })));
    return { cwd, workspaceRoots };
  };
  assert.deepEqual(contextOf(null), { cwd: "/outer", workspaceRoots: ["/outer/root"] });
  assert.deepEqual(contextOf({ cwd: "file:///inner" }), { cwd: "/inner", workspaceRoots: [] });
  assert.deepEqual(contextOf({ workspaceRoots: ["file:///r"] }), { cwd: "/outer", workspaceRoots: ["/r"] });
});

Deno.test("the document of discovery is read like the others", { ignore: IGNORE }, () => {
  const json = managed([special({ kind: "project_roots" }, "read")], {
    cwd: "file:///w",
    workspaceRoots: ["file:///w/r"],
  });
  const { cwd, workspaceRoots } = restricted(
    filePolicy(discoverySandboxContext.decode(parseJson(JSON.stringify(json)))),
  );
  assert.deepEqual({ cwd, workspaceRoots }, { cwd: "/w", workspaceRoots: ["/w/r"] });
});

Deno.test("a program's directory stands in for the policy's, a method on files has none", { ignore: IGNORE }, () => {
  assert.equal(restricted(forProgram(managed())).cwd, "/home/w");
  assert.equal(restricted(filePolicy(decoded(managed()))).cwd, null);
});

Deno.test("tmpdir is the TMPDIR of the program, from its own directory", { ignore: IGNORE }, () => {
  const tmpdir = (TMPDIR: string) => restricted(forProgram(managed(), { env: { TMPDIR } })).tmpdir;
  assert.equal(tmpdir("/x/../tmp//ä/"), "/tmp/\xc3\xa4");
  assert.equal(tmpdir("rel"), "/home/w/rel");
  assert.equal(tmpdir(""), null);
  assert.equal(tmpdir("/a\0b"), null);
  assert.equal(restricted(forProgram(managed())).tmpdir, null);
});

Deno.test("a program is refused for the first path that this machine cannot have", { ignore: IGNORE }, () => {
  const everything = {
    cwd: FOREIGN.replace("h.", "cwd."),
    workspaceRoots: [FOREIGN.replace("h.", "root.")],
  };
  const failing = (json: unknown, cwd?: string) => {
    try {
      forProgram(json, cwd === undefined ? {} : { cwd });
    } catch (error) {
      const { kind, message } = error as { kind?: string; message: string };
      assert.equal(kind, "sandboxPreparation");
      return message.replace(/^failed to prepare process sandbox: /, "> ");
    }
    return assert.fail("was taken");
  };
  const entries = [path(FOREIGN)];
  assert.match(failing(managed(entries, everything)), /^> invalid sandbox policy cwd: 'file:\/\/cwd\.example\/x' is/);
  assert.match(
    failing(managed(entries, { ...everything, cwd: "file:///" })),
    /^> invalid sandbox workspace root: 'file:\/\/root\.example\/x' is/,
  );
  assert.equal(failing(managed(entries)), `> invalid sandbox permission path: ${INVALID}`);
  assert.equal(failing(managed(), FOREIGN), `> invalid sandbox policy cwd: ${INVALID}`);
  assert.equal(
    failing(managed([], { cwd: "file:///" }), FOREIGN),
    `> command cwd URI \`${FOREIGN}\` is not valid on this host: ${INVALID}`,
  );
  const disabled = { permissions: { type: "disabled" }, windowsSandboxLevel: "disabled", cwd: FOREIGN };
  assert.equal(failing(disabled), `> invalid sandbox policy cwd: ${INVALID}`);
});

Deno.test("a method on files is refused for an entry before it is for the context", { ignore: IGNORE }, () => {
  const failing = (json: unknown, message: string) =>
    assert.throws(() => filePolicy(decoded(json)), { name: "ExecError", kind: "invalidRequest", message });
  const context = { cwd: FOREIGN, workspaceRoots: [FOREIGN] };
  failing(managed([path(FOREIGN)], context), `invalid sandbox permission path URI: ${INVALID}`);
  failing(managed([], context), INVALID);
  failing(managed([], { workspaceRoots: [FOREIGN] }), `invalid sandbox workspace root: ${INVALID}`);
  failing(
    managed([], { workspaceRoots: [FOREIGN], windowsSandboxLevel: "mxc" }),
    `invalid sandbox workspace root: ${INVALID}`,
  );
  failing(
    managed([], { windowsSandboxLevel: "mxc" }),
    "failed to prepare fs sandbox: failed to prepare MXC sandbox: native MXC is unavailable on this executor",
  );
});
