/** What is known of the processes that a scenario has started, so that it can wait until they have done their part. */
import { isObject } from "../wire/match.ts";
import { type Fixture, fixtureOf } from "./fixtures.ts";

export interface StartedProcess {
  readonly id: string;
  readonly fixture: Fixture;
  readonly tty: boolean;
  /** Started on the connection that is open now: all its notifications are there. */
  here: boolean;
  /** Has not been told to end and does not end by itself soon. */
  stays: boolean;
  /** Bytes that must have come out before the next step. */
  expectedBytes: number;
  /** On a terminal: the typed line that has not been ended. */
  line: string;
}

/** A parameter by name, or by place if they came as an array. */
export function param(request: unknown, name: string, index: number): unknown {
  const params = isObject(request) ? request["params"] : undefined;
  return Array.isArray(params) ? params[index] : isObject(params) ? params[name] : undefined;
}

export class ProcessModel {
  readonly processes = new Map<string, StartedProcess>();
  readonly #writeIds = new Set<string>();

  /** A start has succeeded. @returns undefined if the arguments are none of the fixtures'. */
  started(request: unknown): StartedProcess | undefined {
    const id = String(param(request, "processId", 0));
    const fixture = fixtureOf(param(request, "argv", 1));
    if (fixture === undefined) return undefined;
    const tty = param(request, "tty", 4) === true;
    const inputOpen = tty || param(request, "pipeStdin", 5) === true;
    const stays = fixture.stays === true && (fixture.echoes !== true || inputOpen);
    const expectedBytes = fixture.ready === undefined ? 0 : fixture.ready.length + (tty ? 2 : 1);
    const process = { id, fixture, tty, stays, expectedBytes, here: true, line: "" };
    this.processes.set(id, process);
    return process;
  }

  /** A write was accepted: what it brings out. */
  written(request: unknown): void {
    const process = this.processes.get(String(param(request, "processId", 0)));
    const key = JSON.stringify([process?.id, param(request, "writeId", 2)]);
    if (process === undefined || !process.stays || this.#writeIds.has(key)) return;
    this.#writeIds.add(key);
    const text = new TextDecoder().decode(Uint8Array.fromBase64(String(param(request, "chunk", 1))));
    if (process.tty) process.expectedBytes += text.replaceAll("\n", "\r\n").length;
    else if (process.fixture.echoes) process.expectedBytes += text.length;
    if (!process.tty || !process.fixture.echoes) return;
    process.line += text;
    if (!text.endsWith("\n")) return;
    process.expectedBytes += process.line.length + 1; // its line end becomes two bytes
    process.line = "";
  }

  /** A signal was sent or a termination asked for. */
  ended(request: unknown): StartedProcess | undefined {
    const process = this.processes.get(String(param(request, "processId", 0)));
    if (process !== undefined) process.stays = false;
    return process;
  }

  /** The connection is another one: what was notified on the old one is gone. */
  reconnected(resumed: boolean): void {
    if (!resumed) this.processes.clear();
    for (const process of this.processes.values()) {
      process.here = false;
      process.expectedBytes = 0;
      if (!process.stays) this.processes.delete(process.id);
    }
  }
}
