import { ExecError } from "../errors.ts";
import { lazily } from "../lazily.ts";
import type { Log } from "../log.ts";
import type { LazySandbox } from "../sandbox/lazy_sandbox.ts";
import type { SandboxPolicy } from "../sandbox/policy.ts";
import type { FileConfinement } from "../sandbox/sandbox.ts";
import type { Caller, FileOperations, MaybePromise } from "./operations.ts";
import { notConfined } from "./refusals.ts";
import type { Confined, ConfinedFilesOptions } from "./sandboxed/confined.ts";

export interface PolicyFilesOptions {
  /** Stays the caller's. */
  readonly sandbox: Pick<LazySandbox, "get" | "isExternal">;
  /** Of this process, not confined. */
  readonly operations: FileOperations;
  readonly log: Log;
}

/**
 * Files under the policies of requests, whatever holds them on this machine. Where nothing can hold one, the operation
 * fails and nothing is done. What is needed is loaded with the first of them; leaving the scope ends it.
 */
export class PolicyFiles implements Disposable {
  readonly #options: PolicyFilesOptions;
  #confined: Confined | undefined;
  readonly #begin: () => Promise<Confined>;
  #disposed = false;

  /** @param create Replaced in tests. */
  constructor(
    options: PolicyFilesOptions,
    create: (options: ConfinedFilesOptions) => Promise<Confined> = confinedFiles,
  ) {
    this.#options = options;
    this.#begin = lazily(async () => {
      const confined = await create({ log: options.log });
      if (this.#disposed) confined[Symbol.dispose]();
      return this.#confined = confined;
    });
  }

  /**
   * Operations that are confined, each to what the policy comes to when it is done.
   *
   * @param policy What it throws is thrown; `sandboxUnavailable` says that it cannot be held.
   * @param check Is called when the policy holds, before an operation is begun; what it throws is the operation's failure.
   */
  under(policy: () => SandboxPolicy, check: () => void = () => {}): MaybePromise<FileOperations> {
    const { sandbox, operations } = this.#options;
    const wanted = enforceable(policy);
    if (sandbox.isExternal) {
      check();
      return operations;
    }
    const enforce = async (signal: AbortSignal): Promise<FileConfinement> => {
      const confinement = await this.#confinement(wanted, signal);
      check();
      return confinement;
    };
    if (this.#confined !== undefined) return this.#confined.operations(enforce);
    return this.#begin().then((confined) => confined.operations(enforce));
  }

  /** Several operations in one view of the files; see {@linkcode Confined.during}. */
  async during<T>(
    policy: () => SandboxPolicy,
    caller: Caller,
    act: (operations: FileOperations) => Promise<T>,
  ): Promise<T> {
    const { sandbox, operations } = this.#options;
    const wanted = enforceable(policy);
    if (sandbox.isExternal) return await act(operations);
    const confinement = await this.#confinement(wanted, caller.signal);
    const confined = await this.#begin();
    return await confined.during(confinement, caller, act);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#confined?.[Symbol.dispose]();
  }

  async #confinement(policy: SandboxPolicy, signal: AbortSignal): Promise<FileConfinement> {
    try {
      const sandbox = await this.#options.sandbox.get();
      // Whoever works on files needs no network, whatever the policy says of programs.
      const plan = await sandbox.plan({ ...policy, network: "restricted" }, signal);
      const enforcement = await sandbox.enforcement(plan);
      if (enforcement === null) throw new Error("a policy that is to be held restricts nothing");
      return forFiles(enforcement.files);
    } catch (error) {
      throw asFileFailure(error);
    }
  }
}

/** The same, failing as methods on files do. */
function forFiles(files: FileConfinement): FileConfinement {
  return {
    arguments: (command) => files.arguments(command),
    confinement: files.confinement,
    async hold(signal) {
      try {
        return await files.hold(signal);
      } catch (error) {
        throw asFileFailure(error);
      }
    },
  };
}

/** Looks at the document even where nothing is enforced. */
function enforceable(policy: () => SandboxPolicy): SandboxPolicy {
  try {
    return policy();
  } catch (error) {
    throw asFileFailure(error);
  }
}

/** The kind is for programs only. */
function asFileFailure(error: unknown): unknown {
  return error instanceof ExecError && error.kind === "sandboxUnavailable" ? notConfined(error.message) : error;
}

async function confinedFiles(options: ConfinedFilesOptions): Promise<Confined> {
  const { ConfinedFiles } = await import("./sandboxed/confined_files.ts");
  return new ConfinedFiles(options);
}
