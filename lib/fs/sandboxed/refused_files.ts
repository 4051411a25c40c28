/** Where no process of ours can work on files inside of a sandbox: on systems other than Linux. */

import type { Caller, FileOperations } from "../operations.ts";
import { notConfined } from "../refusals.ts";
import type { Confined, Enforce } from "./confined.ts";

const REASON = "requests for files are not confined on this system, and not done unconfined";

/** Refuses every operation, with what the sandbox itself says of it if that refuses first. */
export class RefusedFiles implements Confined {
  operations(enforce: Enforce): FileOperations {
    const refuse = (caller: Caller): Promise<never> => this.during(enforce, caller);
    return {
      readFile: (_path, _follow, caller) => refuse(caller),
      openForReading: (_path, caller) => refuse(caller),
      openForReplacing: (_path, caller) => refuse(caller),
      writeFile: (_path, _bytes, _follow, caller) => refuse(caller),
      createDirectory: (_path, _options, caller) => refuse(caller),
      getMetadata: (_path, _follow, caller) => refuse(caller),
      canonicalize: (_path, caller) => refuse(caller),
      readDirectory: (_path, caller) => refuse(caller),
      walk: (_path, _options, caller) => refuse(caller),
      remove: (_path, _options, caller) => refuse(caller),
      copy: (_source, _destination, _recursive, caller) => refuse(caller),
      watchMissing() {
        throw new Error("nothing can be watched from inside of a sandbox");
      },
    };
  }

  async during(enforce: Enforce, { signal }: Caller): Promise<never> {
    await enforce(signal);
    throw notConfined(REASON);
  }

  left(): Promise<void> {
    return Promise.resolve();
  }

  [Symbol.dispose](): void {}
}
