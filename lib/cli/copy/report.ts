/** Names that are kept for the report of one kind; more are counted. */
const MAX_NAMES = 10;

/** Why something was not copied, or not wholly. */
export type Shortcoming =
  /** Something of the source is not there now. */
  | "left out"
  /** Devices, fifos and sockets: left out, and nobody expects otherwise. */
  | "special"
  | "changed";

/** What a copy did, and what it did not. */
export class CopyReport {
  files = 0;
  directories = 0;
  /** Of files and archives, without what an earlier attempt had brought. */
  bytes = 0;
  /** Sources of the command line that were not copied at all. */
  failures = 0;
  /** What tar complained of. */
  readonly complaints: string[] = [];
  readonly #names = new Map<string, { kind: Shortcoming; names: string[]; count: number }>();
  readonly #notes = new Set<string>();

  /** @param why As in `left out, because …`. */
  add(kind: Shortcoming, name: string, why: string): void {
    const found = this.#names.get(why) ?? { kind, names: [], count: 0 };
    found.count++;
    if (found.names.length < MAX_NAMES) found.names.push(name);
    this.#names.set(why, found);
  }

  /** What is said once however often it happens, e.g. that modes are not kept. */
  note(sentence: string): void {
    this.#notes.add(sentence);
  }

  complain(lines: readonly string[]): void {
    for (const line of lines) if (this.complaints.length < MAX_NAMES) this.complaints.push(line);
  }

  /** Whether everything that can be copied was. */
  get isComplete(): boolean {
    return this.failures === 0 && this.complaints.length === 0 &&
      [...this.#names.values()].every(({ kind }) => kind !== "left out");
  }

  /** For people, one sentence each. */
  sentences(): string[] {
    const shortcomings = [...this.#names].map(([why, { kind, names, count }]) => {
      const more = count > names.length ? `, and ${count - names.length} more` : "";
      return `${kind === "changed" ? "" : "left out: "}${names.join(", ")}${more}: ${why}`;
    });
    return [...this.complaints, ...shortcomings, ...this.#notes];
  }
}
