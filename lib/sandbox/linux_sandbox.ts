import { ExecError } from "../errors.ts";
import type { Sandbox, SandboxOptions } from "./sandbox.ts";

/** Until the back ends are put together: refuses. */
export function createSandbox(_options: SandboxOptions): Promise<Sandbox> {
  return Promise.reject(new ExecError("sandboxUnavailable", "sandbox unavailable: no back end has been put together"));
}
