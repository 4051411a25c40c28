/** What a scripted model can say, and how it understands what it is told. */
import type { Item, ModelRequest, Script } from "./scripted_model.ts";

/** How long a command may take whose end the model waits for, in milliseconds; it is told of the end at once. */
export const UNTIL_IT_ENDS_MS = 20_000;

/** Calls a tool with arguments in JSON; tools of MCP servers have a namespace. */
export function call(name: string, args: unknown, namespace?: string): Item {
  const item = { type: "function_call", call_id: callId(), name, arguments: JSON.stringify(args) };
  return namespace === undefined ? item : { ...item, namespace };
}

/** Runs a command and waits for its end. */
export function run(cmd: string, more: Readonly<Record<string, unknown>> = {}): Item {
  return call("exec_command", { cmd, yield_time_ms: UNTIL_IT_ENDS_MS, ...more });
}

/** `apply_patch` with these lines between the first and the last one of a patch. */
export function patch(...lines: string[]): Item {
  const input = ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
  return { type: "custom_tool_call", call_id: callId(), name: "apply_patch", input };
}

/** The last word. */
export function say(text: string): Item {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

/** A script in which nothing depends on what the model is told. */
export function* inOrder(...steps: readonly Item[][]): Script {
  for (const step of steps) yield step;
  yield [say("done")];
}

/** The session of a command that went on running. */
export function sessionOf(told: ModelRequest): number {
  const session = lastOutput(told).match(/Process running with session ID (\d+)/)?.[1];
  if (session === undefined) throw new Error(`no session in ${lastOutput(told)}`);
  return Number(session);
}

/**
 * Goes on asking a session until it has said `text`.
 *
 * @param told What the model was told last.
 */
export function* until(text: string, session: number, told: ModelRequest): Script {
  for (let heard = printed(told); !heard.includes(text); heard += printed(told)) {
    if (!isRunning(told)) throw new Error(`the session ended before it said ${text}: ${heard}`);
    told = yield [call("write_stdin", { session_id: session })];
  }
}

/** What a command printed since it was asked last, without the head of the answer. */
function printed(told: ModelRequest): string {
  return lastOutput(told).replace(/^[^]*?\nOutput:\n/, "");
}

function isRunning(told: ModelRequest): boolean {
  return lastOutput(told).includes("Process running");
}

function lastOutput({ input }: ModelRequest): string {
  const output = input.at(-1)?.["output"];
  return typeof output === "string" ? output : JSON.stringify(output ?? null);
}

function callId(): string {
  return `call_${crypto.randomUUID()}`;
}
