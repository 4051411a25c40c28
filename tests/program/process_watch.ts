/** Starts programs over the wire and checks what is said about each of them as it comes. */
import type { Members, WireClient } from "../support/wire_client.ts";

export type StreamName = "stdout" | "stderr" | "pty";

export interface ProgramSpec {
  readonly argv: readonly [string, ...string[]];
  readonly tty?: boolean;
  readonly pipeStdin?: boolean;
  /** A variable that the program and all that it starts carry, for {@linkcode marked}. */
  readonly mark?: string;
}

/** The params of `process/start` for `spec`. */
export function startParams(processId: string, { argv, tty = false, pipeStdin = false, mark = "" }: ProgramSpec) {
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", EXEC_SERVER_TEST_MARK: mark };
  return { processId, argv, cwd: "file:///", env, tty, pipeStdin };
}

/** What one process said. Numbers that do not count up one by one are collected in `faults`. */
export class WatchedProcess {
  readonly faults: string[] = [];
  readonly closed = Promise.withResolvers<void>();
  /** Number of the newest event. */
  seq = 0;
  exitCode: number | null = null;
  /** Counts bytes; the bytes themselves are kept only with `keep`. */
  bytes = 0;
  /** Called after every event. */
  onEvent: () => void = () => {};
  #chunks: Record<StreamName, Uint8Array[]> = { stdout: [], stderr: [], pty: [] };
  #isClosed = false;

  constructor(readonly id: string, readonly keep: boolean) {}

  hear(method: string, params: Members): void {
    const seq = params["seq"] as number;
    if (seq !== this.seq + 1) this.faults.push(`${method}: number ${seq} after ${this.seq}`);
    if (this.#isClosed) this.faults.push(`${method} after process/closed`);
    this.seq = seq;
    if (method === "process/output") this.#output(params["stream"] as StreamName, params["chunk"] as string);
    else if (method === "process/exited") this.#exited(params["exitCode"] as number);
    else if (method === "process/closed") this.#close();
    else this.faults.push(`an unknown notification ${method}`);
    this.onEvent();
  }

  /** All that came on one stream, as text in which every byte is one character. */
  text(stream: StreamName): string {
    const latin1 = new TextDecoder("latin1");
    return this.#chunks[stream].map((chunk) => latin1.decode(chunk)).join("");
  }

  #output(stream: StreamName, chunk: string): void {
    const bytes = Uint8Array.fromBase64(chunk);
    if (bytes.length === 0) this.faults.push("an empty chunk");
    this.bytes += bytes.length;
    if (this.keep) this.#chunks[stream].push(bytes);
  }

  #exited(exitCode: number): void {
    if (this.exitCode !== null) this.faults.push("process/exited twice");
    this.exitCode = exitCode;
  }

  #close(): void {
    if (this.exitCode === null) this.faults.push("process/closed before process/exited");
    this.#isClosed = true;
    this.closed.resolve();
  }
}

/** The processes of one client. It takes over `client.onNotification`. */
export class ProcessWatch {
  readonly #processes = new Map<string, WatchedProcess>();
  /** Events of processes that nobody started here. */
  readonly strays: string[] = [];

  constructor(readonly client: WireClient) {
    client.onNotification = (method, params) => {
      const process = this.#processes.get(params["processId"] as string);
      if (process === undefined) this.strays.push(`${method} of ${params["processId"]}`);
      else process.hear(method, params);
    };
  }

  /** Starts a program; resolves with the answer. What it says from then on is checked. */
  async start(id: string, spec: ProgramSpec, keep = true): Promise<WatchedProcess> {
    const process = new WatchedProcess(id, keep);
    this.#processes.set(id, process);
    await this.client.request("process/start", startParams(id, spec));
    return process;
  }

  forget(process: WatchedProcess): void {
    this.#processes.delete(process.id);
  }
}
