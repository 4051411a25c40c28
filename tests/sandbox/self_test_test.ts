import assert from "node:assert/strict";
import { ExecError } from "../../lib/errors.ts";
import { fromBytes, fromText } from "../../lib/sandbox/byte_path.ts";
import { landlockPlan } from "../../lib/sandbox/landlock.ts";
import type { ProgramPlan } from "../../lib/sandbox/launcher/launch_plan.ts";
import { metadataFilter } from "../../lib/sandbox/metadata_filter.ts";
import { mountPlan } from "../../lib/sandbox/mount_plan.ts";
import { MountPoints } from "../../lib/sandbox/mount_points.ts";
import { neededMountPoints } from "../../lib/sandbox/needed_mount_points.ts";
import type { AccessPlan } from "../../lib/sandbox/policy.ts";
import { probeCommand } from "../../lib/sandbox/probe_command.ts";
import { SELF_TEST_MS, selfTest, type Strength, type Trial, type TrialOutcome } from "../../lib/sandbox/self_test.ts";
import { unsharePlan } from "../../lib/sandbox/unshare.ts";
import { silentLog } from "../../lib/log.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { Ground, installed, run as runBubblewrap } from "./support/bubblewrap_run.ts";
import { landlockMissing, namespacesMissing, networkFilterText, Workplace } from "./support/launcher.ts";
import { SELF } from "./support/user.ts";

const probe = probeCommand();
const ignore = Deno.build.os !== "linux";

/** Runs the trial with nothing around it. */
async function unconfined({ argv: [program, ...args], env, cwd }: Trial): Promise<TrialOutcome> {
  const command = new Deno.Command(program!, { args, env: { ...env }, clearEnv: true, cwd, stdin: "null" });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { exitCode: code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

function programOf({ argv, env, cwd }: Trial): ProgramPlan {
  const variables = Object.entries(env).map(([name, value]) => fromText(`${name}=${value}`));
  return { file: fromText(argv[0]!), argv: argv.map(fromText), env: variables, cwd };
}

async function holding<T>({ plan }: Trial, act: () => T | Promise<T>): Promise<T> {
  const directory = Deno.makeTempDirSync({ prefix: "self-test-" });
  try {
    await using points = new MountPoints({ directory: `${directory}/record`, log: silentLog });
    await using _lease = await points.hold(neededMountPoints(plan));
    return await act();
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

/** As if it was expanded now that the mount points are there: the helper would make them itself. */
function withNothingMissing(plan: AccessPlan): AccessPlan {
  const kinds = new Map(neededMountPoints(plan).map(({ path, kind }) => [path, kind]));
  return { ...plan, rules: plan.rules.map((rule) => ({ ...rule, found: kinds.get(rule.path) ?? rule.found })) };
}

const network = networkFilterText("restricted");
const metadata = fromBytes(metadataFilter(Deno.build.arch === "aarch64" ? "aarch64" : "x86_64"));

async function launched(
  trial: Trial,
  act: (place: Workplace) => ReturnType<Workplace["launch"]>,
): Promise<TrialOutcome> {
  using place = new Workplace("self");
  const { code, stdout, stderr } = await holding(trial, () => act(place));
  return { exitCode: code, stdout, stderr };
}

/** What a back end does, and how it fails if something is left out. */
const BACK_ENDS: Record<string, { strength: Strength; ignore: boolean; run: (trial: Trial) => Promise<TrialOutcome> }> =
  {
    bubblewrap: {
      strength: "view",
      ignore: ignore || installed === null,
      run: (trial) =>
        holding(trial, () => {
          using ground = new Ground(SELF);
          const env = Object.entries(trial.env);
          const { code, ...outputs } = runBubblewrap(ground, withNothingMissing(trial.plan), trial.argv, {
            user: SELF,
            env,
            cwd: trial.cwd,
          });
          return { exitCode: code, ...outputs };
        }),
    },
    unshare: {
      strength: "view",
      ignore: ignore || namespacesMissing("self"),
      run: (trial) =>
        launched(trial, (place) => {
          const mounts = mountPlan(trial.plan, { scratch: "writable" });
          return place.launch(unsharePlan(mounts, [network], programOf(trial)), "restricted");
        }),
    },
    landlock: {
      strength: "grants",
      ignore: ignore || landlockMissing("self"),
      run: (trial) =>
        launched(
          trial,
          (place) => place.launch(landlockPlan(trial.plan, [network, metadata], programOf(trial)), undefined),
        ),
    },
    filter: {
      strength: "filter",
      ignore,
      run: (trial) =>
        launched(trial, (place) =>
          place.launch(
            { confinement: { kind: "filters" }, filters: [network], program: programOf(trial) },
            undefined,
          )),
    },
  };

for (const [name, { strength, ignore, run }] of Object.entries(BACK_ENDS)) {
  Deno.test({
    name: `selfTest finds that ${name} keeps its promises`,
    ignore,
    fn: async () => assert.equal(await selfTest({ strength, run, probe }), undefined),
  });
}

const FAULTS: Record<Strength, RegExp> = {
  filter: /^it lets a program open an internet socket; .*datagrams; .*IPv6; .*to the kernel; .*use io_uring$/,
  grants: new RegExp(
    "^it lets a program write to what is read-only; .*make files where it may only read; .*change the mode" +
      ".*; it lets a program send signals to the server; .*what is read-only was changed$",
  ),
  view: new RegExp(
    "^it lets a program write to what is read-only; .*see the server's processes; .*make a protected directory; " +
      ".*write to a protected directory; .*read what is denied; .*what is read-only was changed$",
  ),
};

for (const strength of ["filter", "grants", "view"] as const) {
  Deno.test({
    name: `selfTest finds that nothing keeps no promise (${strength})`,
    ignore,
    fn: async () => assert.match(await selfTest({ strength, run: unconfined, probe }) ?? "", FAULTS[strength]),
  });
}

Deno.test({
  name: "selfTest finds which promise is not kept",
  ignore: BACK_ENDS["landlock"]!.ignore,
  fn: async () => {
    const run = (filters: string[]) => (trial: Trial): Promise<TrialOutcome> =>
      launched(trial, (place) => place.launch(landlockPlan(trial.plan, filters, programOf(trial)), undefined));
    const faults = await selfTest({ strength: "grants", run: run([network]), probe });
    assert.equal(faults, "it lets a program change the mode of what is read-only; what is read-only was changed");
    const filterless = await selfTest({ strength: "grants", run: run([metadata]), probe });
    assert.match(filterless ?? "", /^it lets a program open an internet socket; .*use io_uring$/);
  },
});

/** A trial whose program answers so. */
const answering = (outcome: Partial<TrialOutcome>) => () =>
  Promise.resolve({ exitCode: 0, stdout: "", stderr: "", ...outcome });

Deno.test({
  name: "selfTest does not believe what a program says alone",
  ignore,
  fn: async () => {
    const says = (results: readonly number[]) =>
      selfTest({ strength: "filter", run: answering({ stdout: JSON.stringify(results) }), probe });
    assert.equal(await says([0, 1, 1, 1, 1, 1]), "what a program wrote did not arrive");
    assert.equal(
      await says([13, 1, 1, 1, 1, 38]),
      "it does not let a program write where it may; what a program wrote did not arrive",
    );
    for (const stdout of ["", "[0]", "{}", '[0,1,1,1,1,"1"]']) {
      const reason = await selfTest({ strength: "filter", run: answering({ stdout }), probe });
      assert.equal(reason, "the trial program ended with exit code 0:");
    }
  },
});

Deno.test({
  name: "selfTest tells why a trial did not run, in one line without our own paths",
  ignore,
  fn: async () => {
    const failing = (exitCode: number, stderr: string) =>
      selfTest({
        strength: "view",
        run: (trial) => answering({ exitCode, stderr: `${stderr} ${trial.cwd}` })(),
        probe,
      });
    assert.equal(
      await failing(1, "bwrap: Creating new namespace failed:\n\x1b[1m\x07Operation not permitted\x1b[0m"),
      "the trial program ended with exit code 1: bwrap: Creating new namespace failed: Operation not permitted …",
    );
    assert.equal((await failing(1, "x".repeat(1000)))?.length, 201);
    const thrown = await selfTest({
      strength: "view",
      run: () => Promise.reject(new ExecError("sandboxUnavailable", "sandbox unavailable: no descriptors left")),
      probe,
    });
    assert.equal(thrown, "no descriptors left");
  },
});

Deno.test({
  name: "selfTest says that there is no place for its files",
  ignore,
  fn: async () => {
    using place = new Workplace("self");
    const code = `
      import { selfTest } from ${JSON.stringify(new URL("../../lib/sandbox/self_test.ts", import.meta.url).href)};
      console.log(await selfTest({ strength: "view", run: null, probe: null }));`;
    const env = { TMPDIR: `${place.root}/missing`, DENO_NO_UPDATE_CHECK: "1" };
    const args = ["eval", "--no-lock", "--no-config", code];
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, env }).output();
    assert.equal(
      new TextDecoder().decode(stdout),
      "the files of the trial cannot be made where temporary files go (TMPDIR): No such file or directory (os error 2)\n",
      new TextDecoder().decode(stderr),
    );
  },
});

Deno.test({
  name: "selfTest does not wait for ever",
  ignore,
  fn: async () => {
    const clock = new ManualClock();
    let signal: AbortSignal | undefined;
    const run = (_trial: Trial, aborted: AbortSignal): Promise<TrialOutcome> => {
      signal = aborted;
      return new Promise(() => {});
    };
    const tested = selfTest({ strength: "view", run, probe, clock });
    assert.equal(signal?.aborted, false);
    clock.advance(SELF_TEST_MS);
    assert.equal(await tested, "the trial took longer than 20 s");
    assert.equal(signal?.aborted, true);
  },
});
