import assert from "node:assert/strict";
import { removeNodeStandIn } from "../lib/node_stand_in.ts";

const cases: readonly [
  what: string,
  separator: ":" | ";",
  before: Record<string, string>,
  after: Record<string, string>,
][] = [
  [
    "its folder leaves the search path, and its sign the environment",
    ":",
    { DENO_NODE_SHIM_ACTIVE: "1", PATH: "/home/me/.cache/deno/node_compat_bin:/usr/bin:/bin", HOME: "/home/me" },
    { PATH: "/usr/bin:/bin", HOME: "/home/me" },
  ],
  [
    "a search path that is nothing but its folder was none",
    ":",
    { DENO_NODE_SHIM_ACTIVE: "1", PATH: "/c/node_compat_bin" },
    {},
  ],
  [
    "empty entries, which mean the working directory, stay",
    ":",
    { DENO_NODE_SHIM_ACTIVE: "1", PATH: "/c/node_compat_bin::/bin:" },
    { PATH: ":/bin:" },
  ],
  [
    "a search path without its folder stays",
    ":",
    { DENO_NODE_SHIM_ACTIVE: "1", PATH: "/bin" },
    { PATH: "/bin" },
  ],
  [
    "the sign goes where there is no search path",
    ":",
    { DENO_NODE_SHIM_ACTIVE: "1" },
    {},
  ],
  [
    "without its sign a folder of that name is someone else's",
    ":",
    { PATH: "/c/node_compat_bin:/bin" },
    { PATH: "/c/node_compat_bin:/bin" },
  ],
  [
    "on Windows paths are written otherwise",
    ";",
    { DENO_NODE_SHIM_ACTIVE: "1", PATH: "C:\\deno\\node_compat_bin;C:\\Windows" },
    { PATH: "C:\\Windows" },
  ],
];

for (const [what, separator, before, after] of cases) {
  Deno.test(`removeNodeStandIn: ${what}`, () => {
    const variables = new Map(Object.entries(before));
    removeNodeStandIn(variables, separator);
    assert.deepEqual(Object.fromEntries(variables), after);
  });
}
