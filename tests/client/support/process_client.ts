import assert from "node:assert/strict";
import { LogicalClient } from "../../../lib/client/logical_client.ts";
import { NetworkDecisions } from "../../../lib/client/network_decisions.ts";
import type { ProcessEvent, StartOptions } from "../../../lib/client/process.ts";
import { Processes } from "../../../lib/client/processes.ts";
import type { Telemetry } from "../../../lib/client/telemetry.ts";
import { encodeBase64 } from "../../../lib/base64.ts";
import { silentLog } from "../../../lib/log.ts";
import { EXTENSIONS_CAPABILITY } from "../../../lib/protocol/extensions.ts";
import { encodeReadResult, type ReadResult } from "../../../lib/protocol/process.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { type FarEnd, INFO, ScriptedCarrier, type Wire } from "../../support/scripted_server.ts";

export interface ProcessClientOptions {
  /** Whether the server announces our extensions. */
  readonly extensions?: boolean;
  readonly resumable?: boolean;
  readonly failFast?: boolean;
  readonly telemetry?: Telemetry;
}

const STOCK = { ...INFO, cwd: "file:///srv" };
const OURS = { ...STOCK, capabilities: { [EXTENSIONS_CAPABILITY]: true } };

/** The processes of a client whose server is played by the test. */
export class ProcessClient implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly carrier: ScriptedCarrier;
  readonly core: LogicalClient;
  readonly processes: Processes;
  /** The server's end of the connection in use. */
  far!: FarEnd;

  private constructor({ resumable = true, failFast = false, telemetry = {} }: ProcessClientOptions) {
    this.carrier = new ScriptedCarrier({ resumable });
    this.core = new LogicalClient({
      carrier: this.carrier,
      clientName: "test",
      initializeTimeoutMs: 10_000,
      attachDeadlineMs: 45_000,
      recoveryDeadlineMs: 50_000,
      failFast,
      clock: this.clock,
      log: silentLog,
      telemetry,
      onState: () => {},
    });
    this.processes = new Processes(this.core);
    const decisions = new NetworkDecisions(this.core, (id) => this.processes.get(id)?.decider);
    this.core.add(this.processes);
    this.core.add(decisions);
    this.core.answerWith((id, params, connection) => decisions.request(id, params, connection));
  }

  static async connect(options: ProcessClientOptions = {}): Promise<ProcessClient> {
    const client = new ProcessClient(options);
    const started = client.core.start(null, null, client.core.signal);
    const environmentInfo = options.extensions ? OURS : STOCK;
    client.far = await client.carrier.acceptAndShakeHands({ sessionId: "s1", environmentInfo });
    await started;
    return client;
  }

  /** Starts a program that the server says to have started. */
  async start(processId = "p", options: Partial<StartOptions> = {}): ReturnType<Processes["start"]> {
    const started = this.processes.start({ argv: ["program"], processId, ...options });
    const { id } = await this.far.next();
    this.far.answer(id, { processId, sandboxType: "none" });
    return await started;
  }

  /** Cuts the connection and waits for the handshake on the next one; what comes then is the test's to answer. */
  async reconnect(): Promise<FarEnd> {
    this.far.close();
    this.far = await this.carrier.accept();
    await this.far.shakeHands({ sessionId: "s1" });
    return this.far;
  }

  /** Tells events of a process, over the connection in use or another. */
  tell(events: readonly ProcessEvent[], processId = "p", far = this.far): void {
    for (const event of events) far.send(notification(event, processId));
  }

  /** Answers the replay's read of a process. */
  async answerRead(afterSeq: number, answer: ReadResult, processId = "p"): Promise<void> {
    const { id, params } = await this.far.request("process/read");
    assert.deepEqual(params, { processId, afterSeq, maxBytes: null, waitMs: 0 });
    this.far.send(`{"id":${id},"result":${encodeReadResult(answer)}}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.core.end();
    assert.equal(this.clock.pendingTimers, 0, "no timer is left");
  }
}

export function notification(event: ProcessEvent, processId: string): Wire {
  const { seq } = event;
  switch (event.type) {
    case "output": {
      const chunk = encodeBase64(event.bytes);
      return { method: "process/output", params: { processId, seq, stream: event.stream, chunk } };
    }
    case "exited": {
      const { code: exitCode, sandboxDenied } = event;
      return { method: "process/exited", params: { processId, seq, exitCode, sandboxDenied } };
    }
    case "closed":
      return { method: "process/closed", params: { processId, seq } };
  }
}
