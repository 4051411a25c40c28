import { Mismatch, show } from "./mismatch.ts";

/** One notification of a process; `size` is the number of bytes of an output chunk. */
interface Event {
  readonly kind: "output" | "exited" | "closed";
  readonly seq: number;
  readonly stream: string;
  readonly bytes: Uint8Array;
  readonly exitCode: unknown;
}

const MEMBERS: Readonly<Record<string, string>> = {
  "process/output": "chunk,processId,seq,stream",
  "process/exited": "exitCode,processId,sandboxDenied,seq",
  "process/closed": "processId,seq",
};

/** The notifications of one process, recorded or received. */
export class ProcessEvents {
  /** In the order of arrival. */
  readonly events: Event[] = [];
  readonly #sizes = new Map<string, number>();
  /** Where recorded output is only counted: how much it was in all. */
  summarisedBytes: number | null = null;
  exitCode: unknown;
  sandboxDenied: unknown;
  exited = false;
  closed = false;

  /** Takes one notification. @throws {Mismatch} If it has not the members that it must have. */
  accept(message: Readonly<Record<string, unknown>>): void {
    const params = message["params"] as Record<string, unknown>;
    const method = String(message["method"]);
    const members = Object.keys(params).sort().join();
    if (MEMBERS[method] !== members || Object.keys(message).sort().join() !== "method,params") {
      throw new Mismatch(`malformed notification ${show(message)}`);
    }
    const bytes = method === "process/output" ? Uint8Array.fromBase64(String(params["chunk"])) : new Uint8Array();
    const stream = String(params["stream"] ?? "");
    const kind = method.slice("process/".length) as Event["kind"];
    this.events.push({ kind, seq: Number(params["seq"]), stream, bytes, exitCode: params["exitCode"] });
    if (kind === "output") this.#sizes.set(stream, this.size(stream) + bytes.length);
    if (kind === "closed") this.closed = true;
    if (kind === "exited") {
      if (this.exited) throw new Mismatch(`exited twice: ${show(message)}`);
      this.exited = true;
      this.exitCode = params["exitCode"];
      this.sandboxDenied = params["sandboxDenied"];
    }
  }

  /** Bytes of output on one stream. */
  size(stream: string): number {
    return this.#sizes.get(stream) ?? 0;
  }

  get totalBytes(): number {
    return this.#sizes.values().reduce((sum, size) => sum + size, 0);
  }

  get largestChunkBytes(): number {
    return Math.max(0, ...this.events.map((event) => event.bytes.length));
  }

  /** What is known of its end. */
  state(): string {
    const { exited, exitCode, sandboxDenied, closed } = this;
    return show({ exited, exitCode, sandboxDenied, closed });
  }

  /** By number, as a client must read them. */
  sorted(): Event[] {
    return this.events.toSorted((a, b) => a.seq - b.seq);
  }

  /** The output of one stream in the order of its numbers, as base64. */
  output(stream: string): string {
    const bytes = new Uint8Array(this.size(stream));
    let at = 0;
    for (const event of this.sorted()) {
      if (event.kind !== "output" || event.stream !== stream) continue;
      bytes.set(event.bytes, at);
      at += event.bytes.length;
    }
    return bytes.toBase64();
  }

  /** True when these, the received ones, hold at least what is recorded, so that a comparison makes sense. */
  covers(recorded: ProcessEvents): boolean {
    if (recorded.exited && !this.exited || recorded.closed && !this.closed) return false;
    if (recorded.summarisedBytes !== null && this.totalBytes < recorded.summarisedBytes) return false;
    if ([...recorded.#sizes].some(([stream, size]) => this.size(stream) < size)) return false;
    return gapAfter(this.sorted()) === null;
  }

  /** The kinds, streams and sizes in order: equal cuts make equal numbers. */
  cut(): string {
    return this.sorted().map(({ kind, stream, bytes }) => `${kind} ${stream} ${bytes.length}`).join("; ");
  }

  /**
   * Compares the received ones with the first that are recorded: the connection may have brought more before it was cut.
   *
   * @throws {Mismatch} At the first difference.
   */
  compareBeginning(recorded: ProcessEvents, rules: { inOrder: boolean; fromOne: boolean }): void {
    this.#checkNumbers(rules);
    if (recorded.exited && recorded.exitCode !== this.exitCode) {
      throw new Mismatch(`expected ${recorded.state()}, got ${this.state()}`);
    }
    for (const [stream, size] of recorded.#sizes) {
      const [expected, got] = [recorded.output(stream), this.output(stream)];
      if (Uint8Array.fromBase64(got).subarray(0, size).toBase64() === expected) continue;
      throw new Mismatch(`expected ${stream} to begin with ${readable(expected)}, got ${readable(got)}`);
    }
  }

  /**
   * The number, among the received ones, of the piece of output that ends where the recorded piece `seq` ends.
   *
   * @returns 0 before the first piece, null if the output is cut elsewhere.
   */
  counterpart(recorded: ProcessEvents, seq: number): number | null {
    const size = (events: readonly Event[]) => events.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const wanted = size(recorded.events.filter((event) => event.seq <= seq));
    const sorted = this.sorted();
    const ends = [0, ...sorted.map((_, i) => size(sorted.slice(0, i + 1)))].indexOf(wanted);
    return ends === -1 ? null : ends === 0 ? 0 : sorted[ends - 1]!.seq;
  }

  /**
   * Compares the received ones with all that are recorded; how output is cut into chunks does not matter.
   *
   * @param rules `inOrder`: the numbers must rise on the wire; `fromOne`: the process was started on this connection.
   * @throws {Mismatch} At the first difference.
   */
  compare(recorded: ProcessEvents, rules: { inOrder: boolean; fromOne: boolean }): void {
    const sorted = this.#checkNumbers(rules);
    if (this.closed && sorted.at(-1)?.kind !== "closed") throw new Mismatch("closed has not the highest number");
    const [expected, got] = [recorded.state(), this.state()];
    if (expected !== got) throw new Mismatch(`expected ${expected}, got ${got}`);
    if (recorded.summarisedBytes !== null) {
      if (this.totalBytes === recorded.summarisedBytes) return;
      throw new Mismatch(`expected ${recorded.summarisedBytes} bytes of output, got ${this.totalBytes}`);
    }
    for (const stream of new Set([...recorded.#sizes.keys(), ...this.#sizes.keys()])) {
      const [expected, got] = [recorded.output(stream), withoutThread(this.output(stream))];
      if (expected !== got) throw new Mismatch(`expected ${stream} ${readable(expected)}, got ${readable(got)}`);
    }
  }

  #checkNumbers({ inOrder, fromOne }: { inOrder: boolean; fromOne: boolean }): Event[] {
    const numbers = show(this.events.map((event) => event.seq));
    const sorted = this.sorted();
    const gap = gapAfter(sorted);
    if (gap !== null) throw new Mismatch(`the numbers ${numbers} have a gap or a repetition after ${gap}`);
    if (fromOne && (sorted[0]?.seq ?? 1) !== 1) throw new Mismatch(`the numbers ${numbers} do not start at 1`);
    if (inOrder && this.events.some((event, i) => event !== sorted[i])) {
      throw new Mismatch(`the numbers ${numbers} do not rise on the wire`);
    }
    return sorted;
  }
}

/** The number after which something is missing or repeated, or null. */
function gapAfter(sorted: readonly Event[]): number | null {
  const at = sorted.findIndex((event, i) => i > 0 && event.seq !== sorted[i - 1]!.seq + 1);
  return at === -1 ? null : sorted[at - 1]!.seq;
}

/** The reference's helpers say which thread of theirs it was; the recordings have `<tid>` there. */
function withoutThread(base64: string): string {
  const text = new TextDecoder().decode(Uint8Array.fromBase64(base64));
  if (!text.includes("\nthread 'main' (")) return base64;
  return new TextEncoder().encode(text.replace(/\nthread 'main' \(\d+\)/, "\nthread 'main' (<tid>)")).toBase64();
}

function readable(base64: string): string {
  return show(JSON.stringify(new TextDecoder().decode(Uint8Array.fromBase64(base64))));
}
