import type { Log } from "../../lib/log.ts";
import { silentLog } from "../../lib/log.ts";
import { machineCalls, type MountPointCalls } from "../../lib/sandbox/mount_point_calls.ts";
import { MountPoints } from "../../lib/sandbox/mount_points.ts";
import type { Clock } from "../../lib/clock.ts";

/** What a server that has been killed throws instead of going on. */
export class Killed extends Error {}

type Call = keyof MountPointCalls;

/**
 * Mount points whose server can be killed between any two calls to the system: it makes no further one, and the kernel
 * closes what it had open.
 */
export class SimulatedServer {
  /** Calls that have been made, in order. */
  readonly made: Call[] = [];
  /** Called before each, with its number from 1. */
  before: (number: number, call: Call) => void = () => {};
  readonly points: MountPoints;
  isDead = false;
  readonly #open = new Set<number>();

  constructor(directory: string, more: { log?: Log; clock?: Clock; calls?: Partial<MountPointCalls> } = {}) {
    const { log = silentLog, calls, ...rest } = more;
    this.points = new MountPoints({ directory, log, calls: this.#watched({ ...machineCalls, ...calls }), ...rest });
  }

  /** Kills it before its call of that number, counted from now. */
  killAt(number: number): void {
    const at = this.made.length + number;
    this.before = (number) => {
      if (number === at) this.kill();
    };
  }

  kill(): never {
    this.die();
    throw new Killed();
  }

  /** The same between two requests. */
  die(): void {
    this.isDead = true;
    for (const fd of this.#open) machineCalls.close(fd);
    this.#open.clear();
  }

  /** Awaits something that the server does; undefined if it was killed meanwhile. */
  async survives<T>(doing: PromiseLike<T>): Promise<T | undefined> {
    try {
      return await doing;
    } catch (error) {
      if (this.isDead) return undefined;
      throw error;
    }
  }

  get openDescriptors(): number {
    return this.#open.size;
  }

  #watched(calls: MountPointCalls): MountPointCalls {
    const step = (call: Call): void => {
      if (this.isDead) throw new Killed();
      this.made.push(call);
      this.before(this.made.length, call);
    };
    const watched = <A extends unknown[], R>(call: Call, act: (...args: A) => R) => (...args: A): R => {
      step(call);
      return act(...args);
    };
    return {
      open: watched("open", (...args) => {
        const fd = calls.open(...args);
        if (fd >= 0) this.#open.add(fd);
        return fd;
      }),
      close: watched("close", (fd) => {
        this.#open.delete(fd);
        calls.close(fd);
      }),
      read: watched("read", calls.read),
      write: watched("write", calls.write),
      tryLock: watched("tryLock", calls.tryLock),
      status: watched("status", calls.status),
      makeDirectory: watched("makeDirectory", calls.makeDirectory),
      rename: watched("rename", calls.rename),
      removeFile: watched("removeFile", calls.removeFile),
      removeDirectory: watched("removeDirectory", calls.removeDirectory),
      list: watched("list", calls.list),
    };
  }
}

/** A workspace and a place for the record, both empty, removed with the scope. */
export class MountPointScratch implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "mount-points-" });
  readonly workspace = `${this.root}/workspace`;
  readonly record = `${this.root}/run/exec-server`;
  readonly git = { path: `${this.workspace}/.git`, kind: "directory" } as const;
  readonly secret = { path: `${this.workspace}/secret`, kind: "file" } as const;

  constructor() {
    Deno.mkdirSync(this.workspace);
    Deno.mkdirSync(`${this.root}/run`, { mode: 0o700 });
  }

  server(more?: ConstructorParameters<typeof SimulatedServer>[1]): SimulatedServer {
    return new SimulatedServer(this.record, more);
  }

  /** Names in the workspace. */
  get names(): string[] {
    return namesIn(this.workspace);
  }

  /** Files of the record but its lock. */
  get recorded(): string[] {
    return namesIn(this.record).filter((name) => name !== "lock");
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

function namesIn(path: string): string[] {
  return Deno.readDirSync(path).map(({ name }) => name).toArray().sort();
}
