/** No sandbox can hold the policy; the message says why, for whoever asked for it. */
export class PlanError extends Error {
  override readonly name = "PlanError";
}
