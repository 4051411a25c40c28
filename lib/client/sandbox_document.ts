import { parseJson } from "../json.ts";
import { type SandboxContext, sandboxContext } from "../protocol/sandbox.ts";

/**
 * What the option `sandbox` takes, from the document as it goes over the wire; see `docs/sandbox.md`. What is left out is
 * as the protocol has it.
 *
 * @param document Plain data; paths are `file:` URIs.
 * @throws {Error} It is none; in the words in which a server would refuse it.
 */
export function sandboxDocument(document: unknown): SandboxContext {
  return sandboxContext.decode(parseJson(JSON.stringify(document ?? null)));
}
