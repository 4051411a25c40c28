import assert from "node:assert/strict";
import { parseJson } from "../../lib/json.ts";
import { restrictsNothing, sandboxContext } from "../../lib/protocol/sandbox.ts";

function context(permissions: unknown) {
  return sandboxContext.decode(parseJson(JSON.stringify({ permissions, windowsSandboxLevel: "disabled" })));
}

function managed(network: string, entries: unknown[]) {
  return { type: "managed", file_system: { type: "restricted", entries }, network };
}

const root = { type: "special", value: { kind: "root" } };
const slashTmp = { type: "special", value: { kind: "slash_tmp" } };

Deno.test("restrictsNothing is true only of documents that leave a program every freedom", () => {
  for (
    const permissions of [
      { type: "disabled" },
      { type: "external", network: "enabled" },
      { type: "managed", file_system: { type: "unrestricted" }, network: "enabled" },
      managed("enabled", [{ path: root, access: "write" }]),
    ]
  ) assert.equal(restrictsNothing(context(permissions)), true, JSON.stringify(permissions));
});

Deno.test("restrictsNothing is false of whatever takes something away, or might", () => {
  for (
    const permissions of [
      { type: "external", network: "restricted" },
      { type: "managed", file_system: { type: "unrestricted" }, network: "restricted" },
      managed("restricted", [{ path: root, access: "write" }]),
      managed("enabled", []),
      managed("enabled", [{ path: root, access: "read" }]),
      managed("enabled", [{ path: root, access: "none" }]),
      managed("enabled", [{ path: slashTmp, access: "write" }]),
      managed("enabled", [{ path: root, access: "write" }, { path: slashTmp, access: "write" }]),
      managed("enabled", [{ path: root, access: "write" }, {
        path: { type: "path", path: "file:///x" },
        access: "deny",
      }]),
      managed("enabled", [{ path: root, access: "write" }, {
        path: { type: "glob_pattern", pattern: "*" },
        access: "deny",
      }]),
      managed("enabled", [{ path: root, access: "write", missing_path_behavior: "skip" }]),
    ]
  ) assert.equal(restrictsNothing(context(permissions)), false, JSON.stringify(permissions));
});

Deno.test("aliases decode to the name that they stand for", () => {
  const { permissions } = context(managed("enabled", [{
    path: { type: "special", value: { kind: "current_working_directory", subpath: "a" } },
    access: "none",
  }]));
  assert(permissions.type === "managed" && permissions.file_system.type === "restricted");
  assert.deepEqual(permissions.file_system.entries, [{
    path: { type: "special", value: { kind: "project_roots", subpath: "a" } },
    access: "deny",
    missing_path_behavior: null,
  }]);
});
