/**
 * Makes the attempts against any server that speaks the wire and tells what came of them:
 *
 *     deno run -A tests/sandbox/escape/run.ts [--user root|ordinary] [--only TEXT] [--policy NAME]
 *         [--together COUNT] -- COMMAND…
 *
 * COMMAND is a server's, up to and without `--listen`. Ends with 1 if any attempt succeeded.
 */
import type { ServerCommand } from "../../program/running_server.ts";
import { POLICIES } from "../support/policies.ts";
import { ORDINARY, SELF } from "../support/user.ts";
import { ATTEMPTS } from "./attempts.ts";
import { escapes } from "./report.ts";
import { confined, runSuite, TOGETHER } from "./scene.ts";

const words = [...Deno.args];
const separator = words.indexOf("--");
if (separator < 0 || separator === words.length - 1) throw new Error("after -- comes the command of a server");
const command = words.splice(separator).slice(1) as [string, ...string[]] as ServerCommand;
const options = new Map<string, string>();
while (words.length > 0) {
  const [name = "", value] = words.splice(0, 2);
  if (!["--user", "--only", "--policy", "--together"].includes(name) || value === undefined) {
    throw new Error(`what is ${name}?`);
  }
  options.set(name, value);
}
const attempts = ATTEMPTS.filter(({ name }) => name.includes(options.get("--only") ?? ""));
const policies = POLICIES.filter(({ name }) => name === (options.get("--policy") ?? name));
const user = options.get("--user") === "ordinary" ? ORDINARY : SELF;
const since = performance.now();
const outcomes = await runSuite(
  command,
  user,
  confined(attempts, policies),
  Number(options.get("--together") ?? TOGETHER),
);
const found = escapes(outcomes);
for (const text of found) console.log(text);
const seconds = ((performance.now() - since) / 1000).toFixed(1);
console.log(`${outcomes.length} attempts as ${user.name}, ${found.length} not held, ${seconds} s`);
Deno.exit(found.length > 0 ? 1 : 0);
