import { concatenate } from "../concatenate.ts";
import { abortable } from "../abortable.ts";
import { ClientError, unsupported } from "./client_error.ts";
import { MAX_COLLECTED_BYTES } from "./limits.ts";
import type { CollectedOutput, ExecProcess, ProcessExit, RunOptions, StartOptions } from "./process.ts";

export interface ProgramStarter {
  start(options: StartOptions): Promise<ExecProcess>;
  /** Whether the input of a program without a terminal can be ended. */
  canEndInput(): Promise<boolean>;
}

/**
 * Runs a program to its end.
 *
 * @throws {ClientError} `outputLimit`: it wrote more than `maxOutputBytes`; `unsupported`: it has an input that cannot be
 * ended; whatever starting and reading it may throw. Or the signal's reason. The program is ended then.
 */
export async function collectOutput(starter: ProgramStarter, options: RunOptions): Promise<CollectedOutput> {
  const { input, maxOutputBytes = MAX_COLLECTED_BYTES, ...start } = options;
  if (!Number.isSafeInteger(maxOutputBytes) || maxOutputBytes < 0) {
    throw new ClientError("configuration", `maxOutputBytes must be a whole number, not ${maxOutputBytes}`);
  }
  if (input !== undefined && !start.tty && !await starter.canEndInput()) {
    throw unsupported("this server cannot end the input of a program, which would wait for it forever");
  }
  await using process = await starter.start(input === undefined ? start : { ...start, stdin: true });
  const collecting = collect(process, maxOutputBytes);
  const stop = new AbortController();
  const inputFailed = Promise.withResolvers<never>();
  const giving = input === undefined ? undefined : give(process, input, stop.signal).catch(inputFailed.reject);
  try {
    const output = await abortable(Promise.race([collecting, inputFailed.promise]), options.signal);
    return collected(output, await process.exited);
  } finally {
    stop.abort();
    await giving;
  }
}

type Input = NonNullable<RunOptions["input"]>;

interface Output {
  readonly stdout: Uint8Array<ArrayBuffer>;
  readonly stderr: Uint8Array<ArrayBuffer>;
}

function collected({ stdout, stderr }: Output, exit: ProcessExit): CollectedOutput {
  return {
    ...exit,
    stdout,
    stderr,
    get stdoutText() {
      return new TextDecoder().decode(stdout);
    },
    get stderrText() {
      return new TextDecoder().decode(stderr);
    },
  };
}

async function collect(process: ExecProcess, limitBytes: number): Promise<Output> {
  const stdout: Uint8Array[] = [], stderr: Uint8Array[] = [];
  let bytes = 0;
  for await (const event of process) {
    if (event.type !== "output") continue;
    bytes += event.bytes.length;
    if (bytes > limitBytes) {
      throw new ClientError("outputLimit", `process ${process.id} wrote more than ${limitBytes} bytes`);
    }
    (event.stream === "stderr" ? stderr : stdout).push(event.bytes);
  }
  return { stdout: concatenate(stdout), stderr: concatenate(stderr) };
}

/** Writes all of the input and ends it; a program that ends before need not have read it. */
async function give(process: ExecProcess, input: Input, stop: AbortSignal): Promise<void> {
  try {
    if (input instanceof ReadableStream) await pump(process, input, stop);
    else await process.write(input, { signal: stop });
    await process.closeStdin({ signal: stop });
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}

async function pump(process: ExecProcess, input: ReadableStream<Uint8Array>, stop: AbortSignal): Promise<void> {
  const reader = input.getReader();
  try {
    for (
      let result = await abortable(reader.read(), stop);
      !result.done;
      result = await abortable(reader.read(), stop)
    ) {
      await process.write(result.value, { signal: stop });
    }
  } catch (error) {
    // Whoever fills it need not go on; a stream that has failed itself says so again here.
    await reader.cancel(error).catch(() => {});
    throw error;
  } finally {
    reader.releaseLock();
  }
}
