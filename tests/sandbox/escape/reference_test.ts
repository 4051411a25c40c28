import assert from "node:assert/strict";
import { installedReference } from "../../bench/reference.ts";
import { isRoot, USERS } from "../support/user.ts";
import { ATTEMPTS } from "./attempts.ts";
import { missingNeeds } from "./needs.ts";
import type { Told } from "./report.ts";

const RUN = new URL("./run.ts", import.meta.url).pathname;

/** Those in which the client has no part: it would take seconds to have it wait for the reference's helper. */
const QUICK = ATTEMPTS.filter(({ meanwhile }) => meanwhile === undefined);

const reference = Deno.build.os === "linux" ? await installedReference() : null;
if (reference === null) console.log("skipped: the reference holds what the escape suite tries (needs the reference)");

/**
 * The reference's filter lets `sendmsg` pass, and with it datagrams to the unix sockets of others, and the use of keys:
 * attempt → sandboxes in which these can be reached.
 */
const LETS_OUT: Readonly<Record<string, readonly string[]>> = {
  "send to a unix socket without connecting": ["workspace", "offline"],
  "send to a unix socket from a pair of sockets": ["workspace", "offline"],
  "send to an abstract socket without connecting": ["offline"],
  "read a key of the session that the server is in": ["workspace", "narrow", "online", "offline"],
};

// Setting up one of its sandboxes takes a tenth of a second: here each attempt is made in one of them, by one user. All of
// them are made by `run.ts`.
for (const [index, user] of USERS.entries()) {
  Deno.test({
    name:
      `the reference holds what the escape suite tries as ${user.name}, except for datagrams to unix sockets and keys`,
    ignore: reference === null,
    async fn() {
      const words = [Deno.execPath(), "run", "-A", RUN, "--json", "--sample", `${index}/${USERS.length}`];
      if (index > 0) words.push("--user", "ordinary");
      const [program = "", ...args] = isRoot
        ? ["unshare", "--mount", "--propagation", "private", ...words, "--in-memory", "--", ...reference!]
        : [...words, "--", ...reference!];
      const { success, stdout, stderr } = await new Deno.Command(program, { args, stdin: "null" }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
      const outcomes = JSON.parse(new TextDecoder().decode(stdout)) as Told[];
      const impossible = await missingNeeds(user);
      assert.ok(outcomes.length >= Math.floor(QUICK.length / USERS.length));
      const wrong = outcomes.filter(({ attempt, policy, escaped, unclear }) => {
        const { needs = [] } = ATTEMPTS.find(({ name }) => name === attempt)!;
        const isKnown = LETS_OUT[attempt]?.includes(policy!) === true && !needs.some((need) => impossible.has(need));
        return unclear !== undefined || (escaped.length > 0) !== isKnown;
      });
      assert.deepEqual(wrong.map(({ description }) => description), []);
    },
  });
}
