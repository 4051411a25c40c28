import assert from "node:assert/strict";
import { silentLog } from "../../../lib/log.ts";
import type { LaunchSpec } from "../../../lib/process/child.ts";
import { portableBackend } from "../../../lib/process/portable/spawn.ts";
import { fromText, toText } from "../../../lib/sandbox/byte_path.ts";
import type { AccessPlan } from "../../../lib/sandbox/policy.ts";
import type { ConfinedProgram, Enforcement } from "../../../lib/sandbox/sandbox.ts";
import { ChildRecord, launchSpec } from "../../support/child_record.ts";

const never = new AbortController().signal;

/** Runs programs from a shell that says so, and remembers what it was asked. */
class TellingEnforcement implements Enforcement {
  readonly plan: AccessPlan = {
    fullRead: true,
    fullWrite: false,
    network: "restricted",
    rules: [],
    links: [],
    refusal: undefined,
  };
  readonly backEnd = "seatbelt";
  readonly asked: ConfinedProgram[] = [];
  /** What has become of the launches, in order. */
  readonly events: string[] = [];
  descriptors: readonly number[] = [];

  prepare: Enforcement["prepare"] = (program) => {
    this.asked.push(program);
    return Promise.resolve({
      path: "/bin/sh",
      argv: ["sh", "-c", 'echo confined in "$PWD"; exec "$@"', "sh", ...program.argv],
      env: [...program.env, "ADDED=a=b"],
      directory: "/usr",
      descriptors: this.descriptors,
      started: (pid) => void this.events.push(pid > 0 ? "started" : "no process"),
      ended: () => {
        this.events.push("ended");
        return undefined;
      },
      [Symbol.dispose]: () => void this.events.push("disposed"),
    });
  };

  get files(): Enforcement["files"] {
    throw new Error("not asked for");
  }
}

interface Run {
  readonly events: string[];
  readonly enforcement: TellingEnforcement;
}

/** Runs a program to its end, in a back end that ends with it. */
async function run(argv: string[], more: Partial<LaunchSpec> = {}): Promise<Run> {
  using backend = portableBackend({ log: silentLog });
  const [record, enforcement] = [new ChildRecord(), new TellingEnforcement()];
  await backend.launchConfined(launchSpec(argv, more), enforcement, record, never);
  const events = await record.end();
  backend[Symbol.dispose]();
  await backend.idle();
  return { events, enforcement };
}

function testOfUnix(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: Deno.build.os === "windows", fn });
}

testOfUnix("what is prepared runs in the place of a program on pipes, and is let go of at its end", async () => {
  const { events, enforcement } = await run(["sh", "-c", "echo $ADDED; exit 4"]);
  assert.deepEqual(events, ["stdout:confined in /usr\na=b\n", "exited 4", "closed"]);
  assert.equal(enforcement.asked[0]!.file, "sh");
  assert.deepEqual(enforcement.events, ["started", "disposed", "ended"]);
});

testOfUnix("what is prepared runs in the place of a program on a terminal", async () => {
  const { events, enforcement } = await run(["sh", "-c", "test -t 0 && echo $ADDED; exit 4"], { tty: true });
  assert.deepEqual(events, ["pty:confined in /usr\r\na=b\r\n", "exited 4", "closed"]);
  assert.ok(enforcement.asked[0]!.env.some((variable) => variable.startsWith("SHELL=")));
  assert.deepEqual(enforcement.events, ["started", "disposed", "ended"]);
});

testOfUnix("a confinement is told the program's own words, variables and real directory, in bytes", async () => {
  const root = Deno.makeTempDirSync();
  try {
    Deno.mkdirSync(`${root}/\u00fc`);
    Deno.symlinkSync("\u00fc", `${root}/link`);
    const env = new Map([["PATH", "/usr/bin:/bin"], ["\u00e4", "1=2"]]);
    const { enforcement } = await run(["echo", "\u00f6"], { cwd: new TextEncoder().encode(`${root}/link`), env });
    const [{ file, argv, env: variables, cwd }] = enforcement.asked as [ConfinedProgram];
    assert.deepEqual(
      [file, ...argv, ...variables],
      ["echo", "echo", "\u00f6", "PATH=/usr/bin:/bin", "\u00e4=1=2"].map(fromText),
    );
    assert.equal(toText(cwd), Deno.realPathSync(`${root}/\u00fc`));
    const renamed = await run(["echo", "x"], { arg0: "other" });
    assert.deepEqual(renamed.enforcement.asked[0]!.argv, ["other", "x"]);
    assert.equal(renamed.enforcement.asked[0]!.file, "echo");
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

testOfUnix("a start that fails, is given up or needs what there is not lets go of what was prepared", async () => {
  using backend = portableBackend({ log: silentLog });
  const start = async (enforcement: TellingEnforcement, signal = never, more: Partial<LaunchSpec> = {}) => {
    const spec = launchSpec(["true"], more);
    return await backend.launchConfined(spec, enforcement, new ChildRecord(), signal).catch((error) => error);
  };
  const aborted = new TellingEnforcement();
  assert.equal(await start(aborted, AbortSignal.abort("nobody waits")), "nobody waits");
  assert.deepEqual(aborted.events, ["ended", "disposed"]);
  const handing = Object.assign(new TellingEnforcement(), { descriptors: [3] });
  assert.equal((await start(handing)).kind, "sandboxUnavailable");
  assert.deepEqual(handing.events, ["ended", "disposed"]);
  const lost = new TellingEnforcement();
  const nowhere = new TextEncoder().encode("/no/such/directory");
  assert.equal((await start(lost, never, { cwd: nowhere })).kind, "spawnNotFound");
  assert.deepEqual(lost.asked, []);
});
