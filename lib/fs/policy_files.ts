import { ExecError } from "../errors.ts";
import { lazily } from "../lazily.ts";
import type { Log } from "../log.ts";
import { OPERATING_SYSTEM } from "../operating_system.ts";
import { confineProgram, type ProgramConfinement } from "../sandbox/confine_program.ts";
import type { LazySandbox } from "../sandbox/lazy_sandbox.ts";
import type { FileConfinement } from "../sandbox/sandbox.ts";
import type { Caller, FileOperations, MaybePromise } from "./operations.ts";
import { notConfined } from "./refusals.ts";
import type { Confined, ConfinedFilesOptions } from "./sandboxed/confined.ts";

export interface PolicyFilesOptions {
  /** Stays the caller's. */
  readonly sandbox: LazySandbox;
  /** Of this process, not confined. */
  readonly operations: FileOperations;
  readonly log: Log;
}

/**
 * Files under the policies of requests, whatever holds them on this machine. Where nothing can hold one, the operation
 * fails and nothing is done. What is needed is loaded with the first of them; leaving the scope ends it, and waits for its
 * end where it can.
 */
export class PolicyFiles implements Disposable, AsyncDisposable {
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
   * @param demand What is to be held. What it throws is thrown, also where nothing is enforced.
   * @param check Is called when the policy holds, before an operation is begun; what it throws is the operation's failure.
   */
  under(demand: () => ProgramConfinement, check: () => void = () => {}): MaybePromise<FileOperations> {
    const { sandbox, operations } = this.#options;
    const wanted = demand();
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
    demand: () => ProgramConfinement,
    caller: Caller,
    act: (operations: FileOperations) => Promise<T>,
  ): Promise<T> {
    const { sandbox, operations } = this.#options;
    const wanted = demand();
    if (sandbox.isExternal) return await act(operations);
    const confined = await this.#begin();
    return await confined.during((signal) => this.#confinement(wanted, signal), caller, act);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#confined?.[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this[Symbol.dispose]();
    await this.#confined?.left();
  }

  async #confinement({ policy, useLegacyLandlock }: ProgramConfinement, signal: AbortSignal): Promise<FileConfinement> {
    try {
      // Whoever works on files in a program's place needs no network, whatever the policy says.
      const wanted: ProgramConfinement = { policy: { ...policy, network: "restricted" }, useLegacyLandlock };
      const enforcement = await confineProgram(this.#options.sandbox, wanted, signal);
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

const UNAVAILABLE = "sandbox unavailable: ";

/** In the words that methods on files have for it; the kind is for programs only. */
function asFileFailure(error: unknown): unknown {
  if (!(error instanceof ExecError) || error.kind !== "sandboxUnavailable") return error;
  const { message } = error;
  return notConfined(message.startsWith(UNAVAILABLE) ? message.slice(UNAVAILABLE.length) : message);
}

async function confinedFiles(options: ConfinedFilesOptions): Promise<Confined> {
  if (OPERATING_SYSTEM !== "linux") return new (await import("./sandboxed/refused_files.ts")).RefusedFiles();
  const { ConfinedFiles } = await import("./sandboxed/confined_files.ts");
  return new ConfinedFiles(options);
}
