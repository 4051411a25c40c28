import assert from "node:assert/strict";
import { parseJson } from "../../lib/json.ts";
import type { Params } from "../../lib/protocol/methods.ts";
import { REQUESTS } from "../../lib/protocol/methods.ts";
import { startPlace } from "../../lib/protocol/start_checks.ts";

const FOREIGN = "file://h.example/x";
const IGNORE = Deno.build.os !== "linux";

const READ_ALL = { path: { type: "special", value: { kind: "root" } }, access: "read" };

function managed(entries: unknown[], more: Record<string, unknown> = {}) {
  return {
    permissions: { type: "managed", file_system: { type: "restricted", entries }, network: "restricted" },
    windowsSandboxLevel: "disabled",
    ...more,
  };
}

const DISABLED = { permissions: { type: "disabled" }, windowsSandboxLevel: "disabled" };

function params(sandbox: unknown, more: Record<string, unknown> = {}): Params<"process/start"> {
  const json = { processId: "p", argv: ["a"], cwd: "file:///w", env: {}, tty: false, sandbox, ...more };
  return REQUESTS["process/start"].params.decode(parseJson(JSON.stringify(json)));
}

function place(sandbox: unknown, more: Record<string, unknown> = {}, isExternal = false) {
  return startPlace(params(sandbox, more), new Map([["TMPDIR", "tmp"]]), isExternal);
}

function refused(kind: string, message: RegExp, sandbox: unknown, more: Record<string, unknown> = {}): void {
  assert.throws(() => place(sandbox, more), { name: "ExecError", kind, message });
}

Deno.test("without a sandbox a start is confined by nothing", { ignore: IGNORE }, () => {
  assert.deepEqual(place(null), { cwd: new TextEncoder().encode("/w"), sandboxType: "none", confinement: null });
  assert.equal(place(null, { enforceManagedNetwork: true }).confinement, null);
});

Deno.test("a sandbox has a type, whether or not it restricts anything", { ignore: IGNORE }, () => {
  assert.deepEqual(place(DISABLED), {
    cwd: new TextEncoder().encode("/w"),
    sandboxType: "linuxSeccomp",
    confinement: null,
  });
  const { sandboxType, confinement } = place(managed([READ_ALL], { useLegacyLandlock: true }));
  assert.equal(sandboxType, "linuxSeccomp");
  assert.equal(confinement?.useLegacyLandlock, true);
  assert.deepEqual(confinement?.policy, {
    fileSystem: {
      entries: [{ path: { kind: "root" }, access: "read" }],
      globScanMaxDepth: null,
      cwd: "/w",
      workspaceRoots: [],
      tmpdir: "/w/tmp",
    },
    network: "restricted",
  });
});

Deno.test("where somebody else holds programs to it, a sandbox is read and has no type", { ignore: IGNORE }, () => {
  assert.deepEqual(place(managed([READ_ALL]), {}, true), {
    cwd: new TextEncoder().encode("/w"),
    sandboxType: "none",
    confinement: null,
  });
  assert.throws(() => place(managed([READ_ALL], { cwd: FOREIGN }), {}, true), { kind: "sandboxPreparation" });
});

Deno.test("a start is refused for the first thing that is wrong, in the reference's order", { ignore: IGNORE }, () => {
  const everything = { argv: [], cwd: FOREIGN, enforceManagedNetwork: true };
  const entry = { path: { type: "path", path: FOREIGN }, access: "read" };
  refused(
    "invalidParams",
    /^cwd URI `file:\/\/h\.example\/x` is not valid on this exec-server host: /,
    null,
    everything,
  );
  refused(
    "sandboxUnsupported",
    /^native MXC is unavailable on this executor$/,
    managed([entry], { windowsSandboxLevel: "mxc", cwd: FOREIGN }),
    everything,
  );
  refused("invalidParams", /^argv must not be empty$/, managed([entry], { cwd: FOREIGN }), everything);
  const rest = { ...everything, argv: ["a"] };
  refused("sandboxPreparation", /: invalid sandbox permission path: /, managed([entry], { cwd: "file:///" }), rest);
  refused("sandboxPreparation", /: command cwd URI /, managed([READ_ALL], { cwd: "file:///" }), rest);
  refused("sandboxUnavailable", /managed network/, managed([READ_ALL]), { enforceManagedNetwork: true });
  refused("sandboxUnavailable", /managed network/, DISABLED, { enforceManagedNetwork: true });
});
