import assert from "node:assert/strict";
import { isRoot, ORDINARY, SELF, type User } from "../support/user.ts";
import { ATTEMPTS } from "./attempts.ts";
import { TOPICS } from "./attempt.ts";
import { missingNeeds } from "./needs.ts";
import { namespaces } from "./proof.ts";
import type { Told } from "./report.ts";

const PROOF = new URL("./proof.ts", import.meta.url).pathname;
/** Perl: brings the loopback up. */
const LOOPBACK = 'socket(my $s, AF_INET, SOCK_DGRAM, 0); my $up = pack("a16 S x22", "lo", 0x49); ' +
  'ioctl($s, 0x8914, $up) or die "lo: $!"';
const NAMESPACE = [
  ...(isRoot ? [] : ["--user", "--map-root-user"]),
  ...[
    "--mount",
    "--propagation",
    "private",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
    "--net",
    "--ipc",
    "--uts",
  ],
];
const BEGIN = `perl -MSocket -e '${LOOPBACK}' && exec "$@"`;

const possible = Deno.build.os === "linux" && await works();
if (!possible) console.log("skipped: escapes succeed without a sandbox (needs unshare, perl and namespaces)");

Deno.test("every topic has an attempt, and every attempt a name of its own", () => {
  assert.deepEqual(new Set(ATTEMPTS.map(({ topic }) => topic)), new Set(TOPICS));
  assert.equal(new Set(ATTEMPTS.map(({ name }) => name)).size, ATTEMPTS.length);
});

for (const user of isRoot ? [SELF, ORDINARY] : [SELF]) {
  Deno.test({
    name: `without a sandbox ${user.name} succeeds with every attempt that the machine allows`,
    ignore: !possible,
    async fn(test) {
      const outcomes = await prove(user);
      const made = new Map(outcomes.map((outcome) => [outcome.attempt, outcome]));
      const failed = ATTEMPTS.filter(({ name }) => (made.get(name)?.escaped ?? []).length === 0);
      const missing = await missingNeeds(user);
      const unexplained = failed.filter(({ needs = [] }) => !needs.some((need) => missing.has(need)));
      assert.deepEqual(unexplained.map(({ name }) => made.get(name)?.description ?? `${name}: not made`), []);
      assert.deepEqual(outcomes.filter(({ unclear }) => unclear !== undefined), []);
      // What cannot be shown here is counted.
      for (const { name } of failed) {
        await test.step({ name: `"${name}" is possible here`, ignore: true, fn() {} });
      }
    },
  });
}

async function works(): Promise<boolean> {
  try {
    return (await unshared(["true"])).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function prove(user: User): Promise<Told[]> {
  const args = [Deno.execPath(), "run", "-A", PROOF, namespaces().join(" "), user === SELF ? "self" : "ordinary"];
  const { success, stdout, stderr } = await unshared(args);
  assert.ok(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout)) as Told[];
}

function unshared(words: readonly string[]): Promise<Deno.CommandOutput> {
  return new Deno.Command("unshare", { args: [...NAMESPACE, "sh", "-c", BEGIN, "sh", ...words], stdin: "null" })
    .output();
}
