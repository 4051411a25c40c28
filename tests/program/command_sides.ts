import { installedReference } from "../bench/reference.ts";
import { CommandLine } from "./command_line.ts";
import { IS_EXECUTABLE, OUR_COMMAND, RunningServer, type ServerCommand } from "./running_server.ts";

/** A server that commands are tried against. */
interface Side {
  readonly name: string;
  /** Null: it is not here, and its tests are skipped. */
  readonly command: ServerCommand | null;
  /** Whether it has our extensions. */
  readonly extended: boolean;
}

const SIDES: readonly Side[] = [
  { name: "ours", command: OUR_COMMAND, extended: true },
  // What our commands do with it does not depend on how they are packaged, and takes long.
  { name: "the reference", command: IS_EXECUTABLE ? null : await installedReference(), extended: false },
];

export interface Scene {
  readonly user: CommandLine;
  readonly server: RunningServer;
  /** The options that name the server. */
  readonly connect: readonly ["--connect", string];
  readonly extended: boolean;
}

/**
 * Registers a test for our server and for the reference. Where that is not installed, or ours is an executable, it is
 * counted as skipped.
 */
export function testBothSides(name: string, act: (scene: Scene) => Promise<void>): void {
  for (const side of SIDES) testSide(side, name, act);
}

/** Registers a test of what only our server can do. */
export function testOurSide(name: string, act: (scene: Scene) => Promise<void>): void {
  testSide(SIDES[0]!, name, act);
}

/** Registers a test of what becomes of a command where the extensions are missing. */
export function testReferenceSide(name: string, act: (scene: Scene) => Promise<void>): void {
  testSide(SIDES[1]!, name, act);
}

function testSide({ name: side, command, extended }: Side, name: string, act: (scene: Scene) => Promise<void>): void {
  Deno.test({
    name: `${name} (${side})`,
    ignore: command === null || Deno.build.os !== "linux",
    async fn() {
      await using remains = new AsyncDisposableStack();
      await using server = await RunningServer.start({ command: command! });
      const home = homeOf(server.pid);
      // A server that is killed, and the reference in any case, leaves programs behind.
      remains.defer(() => endProgramsOf(home));
      await using user = await CommandLine.create();
      await act({ user, server, connect: ["--connect", server.url], extended });
    },
  });
}

/** A directory that no other test has. */
function homeOf(pid: number): string {
  const home = environmentOf(pid).find((variable) => variable.startsWith("HOME="));
  if (home === undefined) throw new Error(`process ${pid} has no home`);
  return home;
}

function environmentOf(pid: number): string[] {
  return Deno.readTextFileSync(`/proc/${pid}/environ`).split("\0");
}

/** Ends what still runs with this home. */
function endProgramsOf(home: string): void {
  for (const { name } of Deno.readDirSync("/proc")) {
    const pid = Number(name);
    if (!(pid > 1)) continue;
    try {
      if (environmentOf(pid).includes(home)) Deno.kill(pid, "SIGKILL");
    } catch (error) {
      // It has ended meanwhile, or is none of ours.
      const isExpected = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied;
      if (!isExpected && !String(error).includes("os error 3")) throw error;
    }
  }
}
