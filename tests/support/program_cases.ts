import assert from "node:assert/strict";
import { ExecError } from "../../lib/errors.ts";
import type { LaunchSpec } from "../../lib/process/child.ts";
import { Bench, bytes } from "./linux.ts";

/** What the reference answers; `<dir>` is the directory that `layOut` fills, `<5000 x>` stands for that many. */
export interface ProgramCase {
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

/** A test with one step per case: what is started or refused. */
export function testPrograms(name: string, cases: readonly ProgramCase[]): void {
  Deno.test(name, async (t) => {
    const parent = await Deno.realPath(await Deno.makeTempDir());
    const dir = `${parent}/cases`; // the name is in the recordings
    await layOut(dir);
    await using bench = new Bench();
    assert.deepEqual(await bench.run(OUT_OF_DENOS_REACH, { cwd: bytes(dir) }), ["exited 0", "closed"]);
    for (const recorded of cases) await t.step(recorded.name, () => play(recorded, dir, bench));
    await Deno.remove(parent, { recursive: true });
  });
}

async function play(recorded: ProgramCase, dir: string, bench: Bench): Promise<void> {
  const expand = (text: string) =>
    text.replaceAll("<dir>", dir).replace(/<(\d+) (.)>/, (_, count, character) => character.repeat(Number(count)));
  const spec: Partial<LaunchSpec> = {
    tty: recorded.tty,
    arg0: recorded.arg0 === undefined ? null : expand(recorded.arg0),
    cwd: fromPercent(expand(recorded.cwd ?? "<dir>")),
    env: new Map(Object.entries(recorded.env).map(([name, value]) => [name, expand(value)])),
  };
  const launch = () => bench.launch(recorded.argv.map(expand), spec).record;
  if (recorded.error !== undefined) {
    assert.throws(launch, new ExecError(recorded.error as ExecError["kind"], expand(recorded.message!)));
    return;
  }
  const events = await launch().end();
  const said = recorded.output === "" ? [] : [`${recorded.tty ? "pty" : "stdout"}:${expand(recorded.output!)}`];
  assert.deepEqual(events, [...said, `exited ${recorded.exitCode}`, "closed"]);
}

/** Programs good and bad. */
async function layOut(dir: string): Promise<void> {
  for (const name of ["bin", "bin2", "noexec", "dirp/prog", "home"]) {
    await Deno.mkdir(`${dir}/${name}`, { recursive: true });
  }
  const file = async (name: string, text: string, mode: number) => {
    await Deno.writeTextFile(`${dir}/${name}`, text);
    await Deno.chmod(`${dir}/${name}`, mode);
  };
  await file("bin/prog", '#!/bin/sh\necho "bin/prog $0 in $(pwd)"\n', 0o755);
  await file("bin2/prog", '#!/bin/sh\necho "bin2/prog $0 in $(pwd)"\n', 0o755);
  await file("bin/raw", "echo raw\n", 0o755);
  await file("bin/badint", "#!/no/such/interpreter\n", 0o755);
  await file("noexec/prog", "#!/bin/sh\necho hi\n", 0o644);
  await file("afile", "", 0o644);
  await file("empty", "", 0o755);
  await Deno.symlink("loop", `${dir}/loop`);
  await Deno.symlink("prog", `${dir}/bin/link`);
  await Deno.symlink("nowhere", `${dir}/bin/dangling`);
}

/** Names that are not UTF-8, and a FIFO. */
const OUT_OF_DENOS_REACH = `d=$(printf 'd\\377d'); mkdir -p "$d/d"; cp noexec/prog "$d/noexec"
cp bin/prog "$d/uprog"; mkfifo -m 755 bin/fifo`;

function fromPercent(path: string): Uint8Array<ArrayBuffer> {
  const [first = "", ...rest] = path.split("%");
  const tail = rest.flatMap((part) => [parseInt(part.slice(0, 2), 16), ...bytes(part.slice(2))]);
  return new Uint8Array([...bytes(first), ...tail]);
}
