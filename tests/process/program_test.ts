import assert from "node:assert/strict";
import { ExecError } from "../../lib/errors.ts";
import type { LaunchSpec } from "../../lib/process/child.ts";
import { readCases } from "../support/cases.ts";
import { Bench, bytes } from "../support/linux.ts";

/** What the reference answers; `<dir>` is the directory that `layOut` fills, `<5000 x>` stands for that many. */
interface Case {
  name: string;
  tty: boolean;
  argv: string[];
  arg0?: string;
  env: Record<string, string>;
  /** Absolute path, percent-encoded; `<dir>` if absent. */
  cwd?: string;
  error?: string;
  message?: string;
  exitCode?: number;
  output?: string;
}

const CASES = readCases<Case>("program_cases.jsonl", import.meta.url);

/** Not in the recording: the reference says these programs started, prints an abort message of its own and "exits" 1. */
const OURS: Case[] = [
  {
    name: "a script without #! on PATH",
    tty: true,
    argv: ["raw"],
    env: { PATH: "<dir>/bin:/bin" },
    error: "spawnFailed",
    message: "Exec format error (os error 8)",
  },
  {
    name: "a script without its interpreter on PATH",
    tty: true,
    argv: ["badint"],
    env: { PATH: "<dir>/bin:/bin" },
    error: "spawnNotFound",
    message: "No such file or directory (os error 2)",
  },
  {
    name: "a huge argument",
    tty: true,
    argv: ["/bin/true", "<140000 x>"],
    env: {},
    error: "spawnFailed",
    message: "Argument list too long (os error 7)",
  },
];

/** Programs good and bad. */
async function layOut(dir: string): Promise<void> {
  for (const name of ["bin", "noexec", "dirp/prog", "home"]) await Deno.mkdir(`${dir}/${name}`, { recursive: true });
  const file = async (name: string, text: string, mode: number) => {
    await Deno.writeTextFile(`${dir}/${name}`, text);
    await Deno.chmod(`${dir}/${name}`, mode);
  };
  await file("bin/prog", '#!/bin/sh\necho "bin/prog $0 in $(pwd)"\n', 0o755);
  await file("bin/raw", "echo raw\n", 0o755);
  await file("bin/badint", "#!/no/such/interpreter\n", 0o755);
  await file("noexec/prog", "#!/bin/sh\necho hi\n", 0o644);
  await file("afile", "", 0o644);
  await file("empty", "", 0o755);
  await Deno.symlink("loop", `${dir}/loop`);
}

/** Deno makes no names that are not UTF-8. */
const NOT_UTF8 = `d=$(printf 'd\\377d'); mkdir -p "$d/d"; cp noexec/prog "$d/noexec"`;

for (const tty of [false, true]) {
  Deno.test(`programs are found and refused as by the reference, ${tty ? "on a terminal" : "on pipes"}`, async (t) => {
    const parent = await Deno.realPath(await Deno.makeTempDir());
    const dir = `${parent}/cases`; // the name is in the recordings
    await layOut(dir);
    const cwd = bytes(dir);
    await using bench = new Bench();
    assert.deepEqual(await bench.run(NOT_UTF8, { cwd }), ["exited 0", "closed"]);
    for (const recorded of [...CASES, ...OURS].filter((one) => one.tty === tty)) {
      await t.step(recorded.name, async () => {
        const expand = (text: string) =>
          text.replaceAll("<dir>", dir).replace(/<(\d+) x>/, (_, count) => "x".repeat(Number(count)));
        const spec: Partial<LaunchSpec> = {
          tty,
          arg0: recorded.arg0 ?? null,
          cwd: fromPercent(expand(recorded.cwd ?? "<dir>")),
          env: new Map(Object.entries(recorded.env).map(([name, value]) => [name, expand(value)])),
        };
        const launch = () => bench.launch(recorded.argv.map(expand), spec).record;
        if (recorded.error !== undefined) {
          assert.throws(launch, new ExecError(recorded.error as ExecError["kind"], expand(recorded.message!)));
          return;
        }
        const events = await launch().end();
        const said = recorded.output === "" ? [] : [`${tty ? "pty" : "stdout"}:${expand(recorded.output!)}`];
        assert.deepEqual(events, [...said, `exited ${recorded.exitCode}`, "closed"]);
      });
    }
    await Deno.remove(parent, { recursive: true });
  });
}

function fromPercent(path: string): Uint8Array<ArrayBuffer> {
  const [first = "", ...rest] = path.split("%");
  const tail = rest.flatMap((part) => [parseInt(part.slice(0, 2), 16), ...bytes(part.slice(2))]);
  return new Uint8Array([...bytes(first), ...tail]);
}
