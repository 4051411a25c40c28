/**
 * Makes the attempts against any server that speaks the wire and tells what came of them:
 *
 *     deno run -A tests/sandbox/escape/run.ts [OPTIONS] -- COMMAND…
 *
 * COMMAND is a server's, up to and without `--listen`. Ends with 1 if any attempt succeeded. Options:
 *
 *     --user ordinary     not as whoever we are; for root
 *     --only TEXT         only attempts whose names have this
 *     --policy NAME       only this sandbox
 *     --granting          in sandboxes that take nothing back of what they grant: all that Landlock holds
 *     --together COUNT    how many attempts share a sandbox
 *     --sample PART/PARTS this part of the attempts, from 0, each in one sandbox alone
 *     --turn NUMBER       every attempt once, each in another sandbox next turn
 *     --in-memory         everything lies in memory; for a mount namespace of our own
 *     --json              outcomes as one line of JSON, and no judgement
 */
import { parseArgs } from "node:util";
import type { ServerCommand } from "../../program/running_server.ts";
import { GRANTING_POLICIES, POLICIES } from "../support/policies.ts";
import { ORDINARY, SELF } from "../support/user.ts";
import { ATTEMPTS } from "./attempts.ts";
import { escapes, tell } from "./report.ts";
import { confined, each, runSuite, sample } from "./scene.ts";

const { values, positionals } = parseArgs({
  args: [...Deno.args],
  allowPositionals: true,
  options: {
    user: { type: "string", default: "self" },
    only: { type: "string", default: "" },
    policy: { type: "string" },
    granting: { type: "boolean", default: false },
    together: { type: "string" },
    sample: { type: "string" },
    turn: { type: "string" },
    "in-memory": { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
if (positionals.length === 0) throw new Error("after -- comes the command of a server");
if (!["self", "ordinary"].includes(values.user)) throw new Error(`--user is self or ordinary, not ${values.user}`);
const attempts = ATTEMPTS.filter(({ name }) => name.includes(values.only));
const policies = (values.granting ? GRANTING_POLICIES : POLICIES).filter(({ name }) =>
  name === (values.policy ?? name)
);
const [part = 0, parts = 1] = values.sample?.split("/").map(Number) ?? [];
const tries = values.sample !== undefined
  ? sample(attempts, policies, part, parts)
  : values.turn !== undefined
  ? each(attempts, policies, Number(values.turn))
  : confined(attempts, policies);
if (tries.length === 0) throw new Error("there is no such attempt or sandbox");
const user = values.user === "ordinary" ? ORDINARY : SELF;
const since = performance.now();
const outcomes = await runSuite(positionals as [string, ...string[]] as ServerCommand, user, tries, {
  inMemory: values["in-memory"],
  ...(values.together === undefined ? {} : { together: Number(values.together) }),
});
if (values.json) {
  console.log(tell(outcomes));
  Deno.exit(0);
}
const found = escapes(outcomes);
for (const text of found) console.log(text);
const seconds = ((performance.now() - since) / 1000).toFixed(1);
console.log(`${outcomes.length} attempts as ${user.name}, ${found.length} not held, ${seconds} s`);
Deno.exit(found.length > 0 ? 1 : 0);
