import type { AccessPlan } from "../../lib/sandbox/policy.ts";
import type {
  ConfinedProgram,
  Enforcement,
  FileConfinement,
  PreparedLaunch,
  Sandbox,
} from "../../lib/sandbox/sandbox.ts";

/** Nothing is restricted by it. */
export const EMPTY_PLAN: AccessPlan = {
  fullRead: true,
  fullWrite: false,
  network: "restricted",
  rules: [],
  links: [],
  refusal: undefined,
};

/** Confines nothing, and remembers what was asked of it. */
export class FakeEnforcement implements Enforcement {
  readonly plan = EMPTY_PLAN;
  readonly backEnd = "landlock";
  /** In order: `prepare`, `started`, `close` (of the descriptors), `ended`. */
  readonly calls: string[] = [];
  readonly programs: ConfinedProgram[] = [];
  /** What is started in the place of the next programs; the program itself where nothing is said. */
  launch: Partial<Pick<PreparedLaunch, "path" | "argv" | "env" | "descriptors">> = {};
  /** What `ended` answers. */
  gone: Promise<void> | undefined;
  /** Waited for while something is prepared. */
  preparing: Promise<void> = Promise.resolve();

  get files(): FileConfinement {
    throw new Error("not for files");
  }

  async prepare(program: ConfinedProgram, signal: AbortSignal): Promise<PreparedLaunch> {
    this.calls.push("prepare");
    this.programs.push(program);
    await this.preparing;
    if (signal.aborted) this.calls.push("aborted");
    return {
      path: program.file,
      argv: program.argv,
      env: program.env,
      descriptors: [],
      ...this.launch,
      started: () => this.calls.push("started"),
      ended: () => {
        this.calls.push("ended");
        return this.gone;
      },
      [Symbol.dispose]: () => this.calls.push("close"),
    };
  }
}

export class FakeSandbox implements Sandbox {
  readonly isExternal = false;
  readonly calls: string[] = [];
  plan(): AccessPlan {
    this.calls.push("plan");
    return EMPTY_PLAN;
  }
  enforcement(): Promise<Enforcement | null> {
    this.calls.push("enforcement");
    return Promise.resolve(new FakeEnforcement());
  }
  report(): Promise<[]> {
    return Promise.resolve([]);
  }
  [Symbol.dispose](): void {
    this.calls.push("dispose");
  }
}
