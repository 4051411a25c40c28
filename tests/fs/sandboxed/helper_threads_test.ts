import assert from "node:assert/strict";
import { UNSHARE_PLACES, unshareArguments } from "../../../lib/sandbox/unshare.ts";
import { launcherCommand } from "../../../lib/sandbox/launcher_command.ts";
import { backEndMissing } from "../../sandbox/support/back_ends.ts";
import { isRoot, SELF } from "../../sandbox/support/user.ts";

const ENOENT = -2, EROFS = -30;

interface Sight {
  readonly here: Record<string, number>;
  readonly elsewhere: Record<string, boolean>;
  readonly capabilities: boolean;
  readonly canWrite: number;
}

const PROGRAM = new URL("threads_program.ts", import.meta.url).pathname;

function blind({ elsewhere }: Pick<Sight, "elsewhere">): void {
  assert.deepEqual(Object.keys(elsewhere).filter((path) => elsewhere[path]), ["/"]);
}

function nothing(sight: Sight): void {
  for (const [path, result] of Object.entries(sight.here)) assert.equal(result, path === "/" ? 0 : ENOENT, path);
  blind(sight);
  assert.equal(sight.canWrite, ENOENT);
}

Deno.test({
  name: "only the one thread of a helper is ever in a view, and nothing in it leads to the others",
  ignore: await backEndMissing("unshare", SELF) !== undefined,
  async fn() {
    const root = Deno.realPathSync(Deno.makeTempDirSync());
    for (const name of ["early", "late"]) Deno.mkdirSync(`${root}/${name}`);
    const own = launcherCommand();
    const args = [`${root}/new`, `${root}/early/self`, `${root}/late/self`];
    const command = { ...own, argv: [own.argv[0]!, "run", "-A", "--quiet", "--no-check", PROGRAM, ...args] };
    const unshare = UNSHARE_PLACES.find(exists)!;
    const helper = unshareArguments(unshare, command, "restricted");
    const around = isRoot ? [unshare, "--mount", "--", "/bin/sh", "-c", MOUNTING, root] : [];
    const [program = "", ...rest] = [...around, ...helper];
    const child = new Deno.Command(program, { args: rest, stdin: "piped", stdout: "piped", env: command.env }).spawn();
    try {
      const output = child.stdout.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
      const { atRest, inView, afterwards } = JSON.parse((await output.next()).value!) as Record<string, Sight>;
      nothing(atRest!);
      nothing(afterwards!);
      assert.ok(!atRest!.capabilities && !inView!.capabilities && !afterwards!.capabilities);
      seesMachine(inView!, root);
      const input = child.stdin.getWriter();
      await input.write(new TextEncoder().encode("go on\n"));
      const { later } = JSON.parse((await output.next()).value!) as Record<string, Sight>;
      seesMachine(later!, root);
      await input.close();
      assert.ok((await child.status).success);
      await output.return?.();
    } finally {
      using _root = { [Symbol.dispose]: () => Deno.removeSync(root, { recursive: true }) };
      await endOf(child);
    }
  },
});

/**
 * A shell in a mount namespace of its own, whose mounts show in those that are copied from it. Where root is $0, it mounts
 * a file system of processes before the helper starts, and another one when it is told to go on; then it tells the helper.
 */
const MOUNTING = `set -e
  mount --make-rshared /
  mount -t proc proc "$0/early"
  mkfifo "$0/fifo"
  "$@" <"$0/fifo" & helper=$!
  exec 5>"$0/fifo"
  read -r line
  mount -t proc proc "$0/late"
  test -e "$0/early/self/mem" -a -e "$0/late/self/mem"
  echo "$line" >&5
  wait $helper`;

async function endOf(child: Deno.ChildProcess): Promise<void> {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // it has ended
  }
  await child.status;
}

function seesMachine({ here, elsewhere, canWrite }: Sight, root: string): void {
  const seen = ["/", "/etc", "/proc"];
  for (const [path, result] of Object.entries(here)) assert.equal(result, seen.includes(path) ? 0 : ENOENT, path);
  blind({ elsewhere });
  assert.equal(canWrite, EROFS);
  assert.ok(!exists(`${root}/new`));
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
