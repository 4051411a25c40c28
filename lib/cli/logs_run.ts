import { encodeBase64 } from "../base64.ts";
import type { ExecProcess, ProcessStreamName } from "../client/process.ts";
import type { Cli } from "./command.ts";
import type { CommandArguments } from "./command_arguments.ts";
import { attachTo, type OpenTarget, resume } from "./detached_session.ts";
import { InterruptedError, interruption } from "./interruption.ts";
import { openTarget } from "./open_client.ts";
import { hint, printJson, say } from "./say.ts";
import { DetachedProcesses, stateDirectory } from "./state.ts";

export async function runLogs(args: CommandArguments, cli: Cli, open: OpenTarget = openTarget): Promise<number> {
  const states = new DetachedProcesses(stateDirectory((name) => cli.env(name)));
  const saved = await states.find(args.operands[0]!);
  await using client = await resume(saved, cli, states, open);
  using interrupted = interruption(cli);
  const process = await attachTo(client, saved, states);
  const print = printer(args, cli);
  if (!args.has("--follow")) {
    for await (const event of kept(process)) await print(event);
    return 0;
  }
  const reason = await follow(process, print, interrupted.signal);
  if (reason instanceof InterruptedError) {
    await hint(cli, `\nThe program runs on; exec-server kill ${saved.id} ends it.`);
    return reason.code;
  }
  return 0;
}

/** An event as far as it is shown. */
type Shown =
  | { readonly type: "output"; readonly seq: number; readonly stream: ProcessStreamName; readonly bytes: Uint8Array }
  | { readonly type: "exited"; readonly code: number }
  | { readonly type: "closed" };

type Print = (event: Shown) => Promise<void>;

function printer(args: CommandArguments, cli: Cli): Print {
  let isFirst = true;
  return async (event) => {
    if (isFirst && event.type === "output" && event.seq > 1) {
      await say(cli, "what it wrote at first is not kept any more");
    }
    isFirst = false;
    if (args.has("--json")) await printJson(cli, eventJson(event));
    else if (event.type === "output") await (event.stream === "stderr" ? cli.stderr : cli.stdout).write(event.bytes);
    else if (event.type === "exited") await hint(cli, `The program has ended with exit code ${event.code}.`);
  };
}

function eventJson(event: Shown): unknown {
  switch (event.type) {
    case "output":
      return { type: "output", seq: event.seq, stream: event.stream, base64: encodeBase64(event.bytes) };
    case "exited":
      return { type: "exited", code: event.code };
    case "closed":
      return { type: "closed" };
  }
}

/** What the server has now: one answer, since a program that floods would never let us come to an end. */
async function* kept(process: ExecProcess): AsyncGenerator<Shown, void, void> {
  const { chunks, exited, exitCode, closed, failure } = await process.read();
  if (failure) throw new Error(failure);
  for (const { seq, stream, bytes } of chunks) yield { type: "output", seq: Number(seq), stream, bytes };
  if (exited) yield { type: "exited", code: Number(exitCode ?? -1) };
  if (closed) yield { type: "closed" };
}

/** @returns What interrupted it; undefined: nothing, it came to its end. */
async function follow(process: ExecProcess, print: Print, signal: AbortSignal): Promise<unknown> {
  const { promise: aborted, resolve } = Promise.withResolvers<"aborted">();
  const abort = () => resolve("aborted");
  signal.addEventListener("abort", abort, { once: true });
  const events = process[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([events.next(), aborted]);
      if (next === "aborted") return signal.reason;
      if (next.done === true) return undefined;
      await print(next.value);
    }
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
