import { cString } from "../../linux/cstring.ts";
import * as libc from "../../linux/libc.ts";
import type { GroupRegister } from "./groups.ts";

/** `STATE GROUP` and a newline, padded, so that one line can be replaced by another. */
const LINE_BYTES = 13;
const encoder = new TextEncoder();

/** The leader's status has not been taken: the number is the group's for certain. */
const LED = "L";
/** The leader is gone: the number is the group's as long as no process bears it. */
const ORPHANED = "O";
const FREE = "-";

/**
 * The living groups as lines of text in a file in memory, for a watchdog that can read nothing cleverer. A change is
 * one write; the watchdog is not woken by it. The file grows to the largest number of groups that lived at once.
 */
export class GroupTable implements GroupRegister, Disposable {
  readonly #file: number;
  readonly #groups: (number | null)[] = [];
  readonly #free: number[] = [];

  private constructor(file: number) {
    this.#file = file;
  }

  /** @returns A negated error number where there are no files in memory, or no descriptors left. */
  static create(): GroupTable | number {
    const file = libc.memoryFile(cString("exec-server-groups"));
    return file < 0 ? file : new GroupTable(file);
  }

  /** The descriptor of the file; its position stays at the beginning. */
  get file(): number {
    return this.#file;
  }

  add(group: number): number {
    const slot = this.#free.pop() ?? this.#groups.length;
    this.#groups[slot] = group;
    this.#write(slot, LED, group);
    return slot;
  }

  orphaned(slot: number): void {
    this.#write(slot, ORPHANED, this.#groups[slot]!);
  }

  remove(slot: number): void {
    this.#groups[slot] = null;
    this.#free.push(slot);
    this.#write(slot, FREE, 0);
  }

  /** Whoever else holds the file keeps what stands in it. */
  [Symbol.dispose](): void {
    libc.close(this.#file);
  }

  #write(slot: number, state: string, group: number): void {
    libc.pwrite(this.#file, encoder.encode(`${state}${String(group).padStart(11)}\n`), slot * LINE_BYTES);
  }
}
