/**
 * Our server holds what the escape suite tries, with every back end, as every user that can be tried here: each attempt in
 * one of the sandboxes, another one each time. `run.ts` makes all of them in all of them.
 */
import assert from "node:assert/strict";
import { BACK_END_NAMES } from "../../../lib/sandbox/back_end_choice.ts";
import { OUR_COMMAND } from "../../program/running_server.ts";
import { backEndMissing } from "../support/back_ends.ts";
import { isRoot, USERS } from "../support/user.ts";
import { ATTEMPTS } from "./attempts.ts";
import { missingNeeds } from "./needs.ts";
import type { Told } from "./report.ts";

const RUN = new URL("./run.ts", import.meta.url).pathname;
const MAIN = new URL("../../../main.ts", import.meta.url).pathname;
const SERVER = [...OUR_COMMAND.slice(0, -1), MAIN];

/** What Landlock does not know, as the page of the sandbox says: what a device is. */
const LANDLOCK_LETS_OUT = ["open device nodes of the suite"];

let turn = 0;
for (const backEnd of BACK_END_NAMES) {
  for (const [index, user] of USERS.entries()) {
    const missing = await backEndMissing(backEnd, user);
    const name = `${backEnd} holds what the escape suite tries as ${user.name}`;
    if (missing !== undefined) console.log(`skipped: ${name} (${missing})`);
    const words = [Deno.execPath(), "run", "-A", RUN, "--json", "--turn", String(turn++)];
    if (backEnd === "landlock") words.push("--granting");
    if (index > 0) words.push("--user", "ordinary");
    const server = ["--", ...SERVER, "--sandbox", backEnd];
    Deno.test({
      name: backEnd === "landlock" ? `${name}, in sandboxes that only grant` : name,
      ignore: missing !== undefined,
      async fn() {
        const [program = "", ...args] = isRoot
          ? ["unshare", "--mount", "--propagation", "private", ...words, "--in-memory", ...server]
          : [...words, ...server];
        const { success, stdout, stderr } = await new Deno.Command(program, { args, stdin: "null" }).output();
        assert.ok(success, new TextDecoder().decode(stderr));
        const outcomes = JSON.parse(new TextDecoder().decode(stdout)) as Told[];
        assert.equal(new Set(outcomes.map(({ attempt }) => attempt)).size, isRoot ? ATTEMPTS.length : outcomes.length);
        const impossible = new Set(await missingNeeds(user));
        const wrong = outcomes.filter(({ attempt, escaped, unclear }) => {
          const { needs = [] } = ATTEMPTS.find(({ name }) => name === attempt)!;
          const isKnown = backEnd === "landlock" && LANDLOCK_LETS_OUT.includes(attempt);
          if (unclear !== undefined || !isKnown) return unclear !== undefined || escaped.length > 0;
          return escaped.length === 0 && !needs.some((need) => impossible.has(need));
        });
        assert.deepEqual(wrong.map(({ description }) => description), []);
      },
    });
  }
}
