import assert from "node:assert/strict";
import fc from "fast-check";
import {
  decodePlan,
  encodePlan,
  type LandlockRule,
  type LaunchPlan,
} from "../../../lib/sandbox/launcher/launch_plan.ts";
import type { Mount } from "../../../lib/sandbox/mount_plan.ts";

const byteText = fc.string({ unit: fc.integer({ min: 1, max: 255 }).map((byte) => String.fromCharCode(byte)) });
const name = byteText.filter((text) => !text.includes("/") && !["", ".", ".."].includes(text));
const path = fc.array(name, { maxLength: 4 }).map((names) => `/${names.join("/")}`);
const mode = fc.integer({ min: 0, max: 0o777 });

const mount: fc.Arbitrary<Mount> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("bind" as const, "readOnlyBind" as const, "deviceBind" as const, "freeze" as const),
    path,
  }),
  fc.record({ kind: fc.constant("link" as const), path, target: byteText }),
  fc.record({ kind: fc.constant("devices" as const), path: fc.constant("/dev" as const) }),
  fc.record({ kind: fc.constant("processes" as const), path: fc.constant("/proc" as const) }),
  fc.record({
    kind: fc.constantFrom("emptyDirectory" as const, "emptyFile" as const),
    path,
    mode,
    isMissing: fc.boolean(),
  }),
);
const root = fc.constantFrom<Mount>({ kind: "emptyRoot", path: "/" }, { kind: "bind", path: "/" }, {
  kind: "readOnlyBind",
  path: "/",
});
const rule: fc.Arbitrary<LandlockRule> = fc.record({
  path,
  access: fc.constantFrom("read" as const, "write" as const, "device" as const),
});

const plan: fc.Arbitrary<LaunchPlan> = fc.record({
  confinement: fc.oneof(
    fc.tuple(root, fc.array(mount)).map(([first, rest]) => ({ kind: "mounts" as const, mounts: [first, ...rest] })),
    fc.record({ kind: fc.constant("landlock" as const), rules: fc.array(rule), network: fc.boolean() }),
    fc.record({ kind: fc.constant("filters" as const) }),
  ),
  filters: fc.array(
    fc.uint8Array({ minLength: 1, maxLength: 4 }).map((bytes) => String.fromCharCode(...bytes).repeat(8)),
  ),
  program: fc.record({
    file: byteText.filter((text) => text !== ""),
    argv: fc.array(byteText, { minLength: 1 }),
    env: fc.array(byteText),
    cwd: path,
  }),
});

Deno.test("a plan arrives as it was sent", () => {
  fc.assert(fc.property(plan, (sent) => {
    assert.deepEqual(decodePlan(encodePlan(sent)), JSON.parse(JSON.stringify(sent)));
  }));
});

Deno.test("a plan that lost or gained bytes anywhere is refused", () => {
  fc.assert(fc.property(plan, fc.nat(), fc.boolean(), (sent, seed, isShorter) => {
    const bytes = encodePlan(sent);
    const at = seed % bytes.length;
    const damaged = isShorter
      ? new Uint8Array([...bytes.subarray(0, at), ...bytes.subarray(at + 1)])
      : new Uint8Array([...bytes.subarray(0, at), 0x20, ...bytes.subarray(at)]);
    assert.throws(() => decodePlan(damaged), /^Error: the launch plan is damaged: /);
  }));
});

const GOOD = {
  confinement: { kind: "mounts", mounts: [{ kind: "emptyRoot", path: "/" }] },
  filters: [],
  program: { file: "sh", argv: ["sh"], env: [], cwd: "/" },
};

function framed(plan: unknown): Uint8Array {
  return encodePlan(plan as LaunchPlan);
}

Deno.test("each detail that no plan has is refused, without repeating the plan", () => {
  decodePlan(framed(GOOD));
  const mounts = (...more: unknown[]) => ({
    ...GOOD,
    confinement: { kind: "mounts", mounts: [...GOOD.confinement.mounts, ...more] },
  });
  const program = (more: object) => ({ ...GOOD, program: { ...GOOD.program, ...more } });
  const cases: [unknown, string][] = [
    [null, "the plan is no object"],
    [{ ...GOOD, more: 1 }, "the plan has a member too many"],
    [{ ...GOOD, confinement: { kind: "none" } }, "the kind of confinement is unknown"],
    [{ ...GOOD, confinement: { kind: "filters", mounts: [] } }, "confinement has a member too many"],
    [{ ...GOOD, confinement: { kind: "mounts", mounts: [] } }, "no mount is for the root"],
    [{ ...GOOD, confinement: { kind: "mounts", mounts: [{ kind: "freeze", path: "/" }] } }, "no mount is for the root"],
    [{ ...GOOD, confinement: { kind: "landlock", rules: [], network: "no" } }, "network is no boolean"],
    [
      { ...GOOD, confinement: { kind: "landlock", rules: [{ path: "/", access: "all" }], network: true } },
      "a rule's access is unknown",
    ],
    [mounts({ kind: "bind", path: "a" }), "a mount's path is not absolute and normal"],
    [mounts({ kind: "bind", path: "/a/../b" }), "a mount's path is not absolute and normal"],
    [mounts({ kind: "bind", path: "/a/" }), "a mount's path is not absolute and normal"],
    [mounts({ kind: "bind", path: "/\u0100" }), "a mount's path is no string of bytes"],
    [mounts({ kind: "bind", path: "/a\0b" }), "a mount's path has a NUL inside"],
    [mounts({ kind: "bind", path: "/a", mode: 1 }), "a mount has a member too many"],
    [mounts({ kind: "devices", path: "/a" }), "the devices are not at /dev"],
    [mounts({ kind: "processes", path: "/a" }), "the processes are not at /proc"],
    [mounts({ kind: "emptyRoot", path: "/a" }), "the empty root is not at the root"],
    [mounts({ kind: "emptyFile", path: "/a", mode: 0o1000, isMissing: false }), "a mode is wrong"],
    [mounts({ kind: "emptyFile", path: "/a", mode: 0, isMissing: 0 }), "isMissing is no boolean"],
    [mounts({ kind: "remount", path: "/a" }), "the kind of a mount is unknown"],
    [{ ...GOOD, filters: ["1234567"] }, "a filter is no whole number of instructions"],
    [{ ...GOOD, filters: [""] }, "a filter is no whole number of instructions"],
    [{ ...GOOD, filters: "" }, "filters is no list"],
    [program({ argv: [] }), "there is no program"],
    [program({ env: ["A=1\0B=2"] }), "a variable has a NUL inside"],
    [program({ cwd: "" }), "the program's directory is not absolute and normal"],
    [program({ uid: 0 }), "program has a member too many"],
  ];
  for (const [value, reason] of cases) {
    assert.throws(() => decodePlan(framed(value)), new Error(`the launch plan is damaged: ${reason}`));
  }
  assert.throws(() => decodePlan(new TextEncoder().encode("exec-server launch plan 1 6\nsecret")), {
    message: "the launch plan is damaged: it is no JSON",
  });
});
