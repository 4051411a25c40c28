/**
 * Drives an executable with the conformance suite and with tests of its commands, and ends with one line:
 * `N passed, N failed, N skipped`. What an old run-time base cannot do counts as skipped, by name.
 *
 *     deno task test:binary                    dist/exec-server, as `deno task compile` has made it
 *     deno task test:binary --base 2.4.2       … on the run-time base of that version of Deno
 */

const PROJECT = new URL("../", import.meta.url).pathname;
const BINARY = `${PROJECT}dist/exec-server`;
const COMMANDS = ["commands", "cp_tree"];

/** Names of recordings and tests that fail on bases before 2.8, and why: what is not known to be the base's is a failure. */
const OLD_BASE: readonly (readonly [names: RegExp, reason: string])[] = [
  [/^http-(buffered|header-env-var|proxy-env|redirects)$/, "no zstd in node:zlib"],
];

const args = Deno.args.filter((arg) => arg !== "--");
if (args.length > 0 && (args.length !== 2 || args[0] !== "--base" || !/^\d+\.\d+\.\d+$/.test(args[1]!))) {
  console.error("usage: test:binary [--base VERSION]");
  Deno.exit(2);
}
const [major = 0, minor = 0] = (args[1] ?? Deno.version.deno).split(".").map(Number);
const known = major < 2 || (major === 2 && minor < 8) ? OLD_BASE : [];
const counts = { passed: 0, failed: 0, skipped: 0 };

if (!await Deno.stat(BINARY).then(({ isFile }) => isFile, () => false)) {
  console.log("skip: dist/exec-server is not there; `deno task compile` makes it");
  counts.skipped++;
} else {
  await drive(["run", "-A", "scripts/conformance.ts", "--command", BINARY], (line) => {
    const [, verdict, name = ""] = /^(ok {3}|FAIL |skip )([\w-]+)/.exec(line) ?? [];
    return verdict === undefined ? undefined : { verdict: verdict === "FAIL " ? "FAIL" : verdict.trim(), name };
  });
  const files = COMMANDS.map((name) => `tests/program/${name}_test.ts`);
  await drive(["test", "-A", "--parallel", ...files], (line) => {
    const [, name = "", outcome] = /^\S+ => (.+) \.\.\. (ok|FAILED|ignored)\b/.exec(line) ?? [];
    if (outcome === undefined) return undefined;
    return { verdict: { ok: "ok", FAILED: "FAIL", ignored: "skip" }[outcome]!, name };
  });
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
Deno.exit(counts.failed === 0 ? 0 : 1);

/** Runs a suite and counts; a suite that ends badly without a failure of its own is one. */
async function drive(
  args: string[],
  read: (line: string) => { verdict: string; name: string } | undefined,
): Promise<void> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: PROJECT,
    env: { EXEC_SERVER_BINARY: BINARY, NO_COLOR: "1" },
    stderr: "inherit",
  }).output();
  const text = new TextDecoder().decode(stdout);
  let [passed, fell] = [0, 0];
  const seen: string[] = [];
  for (const line of text.split("\n")) {
    const result = read(line);
    if (result === undefined || seen.includes(result.name)) continue;
    seen.push(result.name);
    if (result.verdict === "ok") passed++;
    else if (result.verdict === "skip") counts.skipped++;
    else {
      fell++;
      const reason = known.find(([names]) => names.test(result.name))?.[1];
      console.log(reason === undefined ? `FAIL ${line}` : `skip ${result.name}: ${reason}`);
      if (reason === undefined) counts.failed++;
      else counts.skipped++;
    }
  }
  counts.passed += passed;
  if (passed === 0 || (!success && fell === 0)) {
    console.log(`FAIL ${args.join(" ")} broke:\n${text}`);
    counts.failed++;
  }
}
