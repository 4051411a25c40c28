import { ExecError } from "../errors.ts";
import { lazily } from "../lazily.ts";
import { OPERATING_SYSTEM } from "../operating_system.ts";
import type { Sandbox, SandboxChoice, SandboxOptions } from "./sandbox.ts";

/** What is taken where nobody says anything. */
export const DEFAULT_SANDBOX: SandboxChoice = { choice: "auto", secretPaths: [] };

/** The one sandbox of a server, loaded when the first policy restricts something. It ends with its scope. */
export class LazySandbox implements Disposable {
  /** The operator says that the machine around us is the sandbox: policies are read and then not enforced. */
  readonly isExternal: boolean;
  /** Whether there are files of ours that nothing in a sandbox may read, whatever its policy says. */
  readonly keepsSecrets: boolean;
  readonly #begin: () => Promise<Sandbox>;
  #loaded: Sandbox | undefined;
  #disposed = false;

  /** @param create Replaced in tests. */
  constructor(options: SandboxOptions, create: (options: SandboxOptions) => Promise<Sandbox> = createSandboxHere) {
    this.isExternal = options.choice === "external";
    this.keepsSecrets = !this.isExternal && options.secretPaths.length > 0;
    if (this.isExternal) {
      options.log.warn(
        "sandboxes are not enforced here: whatever clients ask for, programs and file requests have all rights of this " +
          "user, because the machine around us was said to be the sandbox",
      );
    }
    this.#begin = lazily(async () => {
      const sandbox = await create(options);
      if (this.#disposed) sandbox[Symbol.dispose]();
      else this.#loaded = sandbox;
      return sandbox;
    });
  }

  /** @throws {ExecError} `sandboxUnavailable` on a system without any; `internal` once it has ended. */
  async get(): Promise<Sandbox> {
    const sandbox = this.#disposed ? undefined : await this.#begin();
    if (sandbox === undefined || this.#disposed) throw new ExecError("internal", "the server is ending");
    return sandbox;
  }

  /** Synchronous, so that the server may exit directly afterwards. */
  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#loaded?.[Symbol.dispose]();
    this.#loaded = undefined;
  }
}

async function createSandboxHere(options: SandboxOptions): Promise<Sandbox> {
  if (OPERATING_SYSTEM === "linux") return await (await import("./linux_sandbox.ts")).createSandbox(options);
  if (OPERATING_SYSTEM === "darwin") {
    return (await import("./seatbelt_sandbox.ts")).createSeatbeltSandbox(options);
  }
  throw new ExecError("sandboxUnavailable", `sandbox unavailable: there is none for ${OPERATING_SYSTEM}`);
}
