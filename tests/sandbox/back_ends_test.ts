import assert from "node:assert/strict";
import { silentLog } from "../../lib/log.ts";
import { type BackEnd, TestedBackEnd } from "../../lib/sandbox/back_end.ts";
import type { BackEndChoice } from "../../lib/sandbox/back_end_choice.ts";
import { BackEnds, PROMISES } from "../../lib/sandbox/back_ends.ts";
import type { AccessPlan } from "../../lib/sandbox/policy.ts";

type Name = BackEnd<string>["name"];

/** Plans that only the file rules and the network matter of. */
const PLAN: AccessPlan = {
  fullRead: true,
  fullWrite: false,
  network: "restricted",
  rules: [],
  links: [],
  refusal: undefined,
};
const NETWORK_ONLY: AccessPlan = { ...PLAN, fullWrite: true };
const EVERYTHING: AccessPlan = { ...NETWORK_ONLY, network: "enabled" };
const REFUSED: AccessPlan = { ...EVERYTHING, refusal: "cannot enforce sandbox read-only path /x" };

/** What is missing by name; whom it has asked is told. */
function world(choice: BackEndChoice, missing: Partial<Record<Name, string>> = {}, obstacle?: string) {
  const tried: Name[] = [];
  const backEnd = (name: Name): BackEnd<string> =>
    new TestedBackEnd({
      name,
      launch: `by ${name}`,
      log: silentLog,
      test: () => (tried.push(name), Promise.resolve(missing[name])),
      ...(name === "landlock" && obstacle !== undefined ? { obstacle: () => obstacle } : {}),
    });
  const backEnds = { landlock: backEnd("landlock"), unshare: backEnd("unshare"), bubblewrap: backEnd("bubblewrap") };
  return { tried, all: new BackEnds({ choice, backEnds, filter: backEnd("filter") }) };
}

Deno.test("The first back end that works is taken, and those after it are not even tried", async () => {
  const cases: [missing: Partial<Record<Name, string>>, taken: Name, tried: Name[]][] = [
    [{}, "bubblewrap", ["bubblewrap"]],
    [{ bubblewrap: "not installed" }, "unshare", ["bubblewrap", "unshare"]],
    [{ bubblewrap: "no", unshare: "no" }, "landlock", ["bubblewrap", "unshare", "landlock"]],
  ];
  for (const [missing, taken, expected] of cases) {
    const { all, tried } = world("auto", missing);
    const backEnd = await all.choose(PLAN);
    assert.deepEqual([backEnd?.name, backEnd?.launch, tried], [taken, `by ${taken}`, expected]);
    assert.equal(await all.choose(PLAN), backEnd);
    assert.deepEqual(tried, expected);
  }
});

Deno.test("Without a back end a plan is refused, with what is missing of each", async () => {
  const { all } = world("auto", { bubblewrap: "not installed", unshare: "no user namespaces" }, "it cannot deny");
  await assert.rejects(all.choose(PLAN), {
    name: "ExecError",
    kind: "sandboxUnavailable",
    message: "sandbox unavailable: bubblewrap: not installed; unshare: no user namespaces; landlock: it cannot deny",
  });
  const network = world("auto", { filter: "no seccomp" });
  await assert.rejects(network.all.choose(NETWORK_ONLY), { message: "sandbox unavailable: filter: no seccomp" });
});

Deno.test("The operator's choice excludes the others, whether or not it works", async () => {
  for (const name of ["bubblewrap", "unshare", "landlock"] as const) {
    const chosen = world(name);
    assert.deepEqual([(await chosen.all.choose(PLAN))?.name, chosen.tried], [name, [name]]);
    const missing = world(name, { [name]: "broken" });
    await assert.rejects(missing.all.choose(PLAN), { message: `sandbox unavailable: ${name}: broken` });
    assert.deepEqual(missing.tried, [name]);
    assert.equal((await chosen.all.choose(NETWORK_ONLY))?.name, "filter");
  }
});

Deno.test("Nothing is taken only where nothing is to be enforced, or by somebody else", async () => {
  const { all, tried } = world("auto");
  assert.equal(await all.choose(EVERYTHING), null);
  assert.equal((await all.choose(NETWORK_ONLY))?.name, "filter");
  await assert.rejects(all.choose(REFUSED), { kind: "sandboxUnavailable", message: REFUSED.refusal! });
  assert.deepEqual(tried, ["filter"]);
  const external = world("external");
  for (const plan of [PLAN, NETWORK_ONLY, EVERYTHING, REFUSED]) assert.equal(await external.all.choose(plan), null);
  assert.deepEqual(external.tried, []);
});

Deno.test("report() tries all and says what each is good for", async () => {
  const { all } = world("unshare", { bubblewrap: "not installed" });
  assert.deepEqual(await all.report(), [
    { name: "bubblewrap", isChosen: false, reason: "not installed", promise: PROMISES.bubblewrap },
    { name: "unshare", isChosen: true, reason: undefined, promise: PROMISES.unshare },
    { name: "landlock", isChosen: false, reason: undefined, promise: PROMISES.landlock },
    { name: "filter", isChosen: true, reason: undefined, promise: PROMISES.filter },
  ]);
  const external = await world("external").all.report();
  assert.ok(external.every(({ isChosen }) => !isChosen));
});
