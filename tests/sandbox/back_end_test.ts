import assert from "node:assert/strict";
import { RETRY_AFTER_MS, TestedBackEnd } from "../../lib/sandbox/back_end.ts";
import { createLog, silentLog } from "../../lib/log.ts";
import type { AccessPlan } from "../../lib/sandbox/policy.ts";
import { ManualClock } from "../support/manual_clock.ts";

const PLAN: AccessPlan = {
  fullRead: true,
  fullWrite: false,
  network: "restricted",
  rules: [],
  links: [],
  refusal: undefined,
};

Deno.test("A back end is tried when it is first asked for, once for all who ask", async () => {
  let tests = 0;
  const answer = Promise.withResolvers<undefined>();
  const backEnd = new TestedBackEnd({
    name: "unshare",
    launch: "how",
    log: silentLog,
    test: () => (tests++, answer.promise),
  });
  assert.deepEqual([backEnd.name, backEnd.launch, tests], ["unshare", "how", 0]);
  const both = [backEnd.available(), backEnd.available()];
  answer.resolve(undefined);
  assert.deepEqual(await Promise.all(both), [undefined, undefined]);
  assert.equal(await backEnd.available(), undefined);
  assert.equal(tests, 1);
});

Deno.test("What did not work is tried again after a minute, and what worked never", async () => {
  const clock = new ManualClock();
  const answers = ["no namespaces", "no namespaces", new TypeError("/home/somebody/file is strange"), undefined];
  let tests = 0;
  const test = (): Promise<string | undefined> => {
    const answer = answers[tests++];
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const lines: string[] = [];
  const log = createLog("info", (line) => lines.push(line.replace(/^\S+ /, "").trimEnd()));
  const backEnd = new TestedBackEnd({ name: "bubblewrap", launch: null, test, clock, log });
  assert.deepEqual(await backEnd.available(), { reason: "no namespaces" });
  clock.advance(RETRY_AFTER_MS - 1);
  assert.deepEqual([await backEnd.available(), tests], [{ reason: "no namespaces" }, 1]);
  clock.advance(1);
  assert.deepEqual([await backEnd.available(), tests], [{ reason: "no namespaces" }, 2]);
  clock.advance(RETRY_AFTER_MS);
  assert.deepEqual(await backEnd.available(), { reason: "it cannot be tried: TypeError" });
  clock.advance(RETRY_AFTER_MS);
  assert.equal(await backEnd.available(), undefined);
  clock.advance(10 * RETRY_AFTER_MS);
  assert.deepEqual([await backEnd.available(), tests], [undefined, 4]);
  const failure = "WARN a back end for sandboxes does not work here backEnd=bubblewrap";
  assert.deepEqual(lines, [
    `${failure} reason="no namespaces"`,
    `${failure} reason="it cannot be tried: TypeError"`,
    "INFO a back end for sandboxes works backEnd=bubblewrap",
  ], "whoever runs the machine hears of each change once");
});

Deno.test("canExpress says a plan's own refusal before the back end's", () => {
  const test = (): Promise<undefined> => Promise.resolve(undefined);
  const any = new TestedBackEnd({ name: "bubblewrap", launch: null, test, log: silentLog });
  const some = new TestedBackEnd({
    name: "landlock",
    launch: null,
    test,
    log: silentLog,
    obstacle: () => "too narrow",
  });
  assert.deepEqual([any.canExpress(PLAN), some.canExpress(PLAN)], [undefined, "too narrow"]);
  const refused = { ...PLAN, refusal: "a link" };
  assert.deepEqual([any.canExpress(refused), some.canExpress(refused)], ["a link", "a link"]);
});
