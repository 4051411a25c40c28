import type { AssemblyBudget } from "./assembly_budget.ts";
import { type RecordCipher, RecordError } from "../noise/record_cipher.ts";
import { MessageAssembler } from "./records.ts";
import { ReorderWindow } from "./reorder_window.ts";
import { StreamError } from "./stream_error.ts";

/** Records of one stream that are opened at the same time: as many as are sealed. */
const MAX_OPENING = 8;
/** What a waiting record counts besides its own bytes, for the memory that the smallest one takes. */
const RECORD_OVERHEAD_BYTES = 256;

export interface RecordReceiverOptions {
  readonly cipher: Pick<RecordCipher, "open">;
  readonly budget: AssemblyBudget;
  /** One message, in order. */
  readonly message: (message: Uint8Array<ArrayBuffer>) => void;
  readonly failed: (error: StreamError) => void;
}

/** A record whose turn to be opened has come, or which is open, or is none, and waits for those before it. */
interface Opening {
  readonly record: Uint8Array<ArrayBuffer>;
  outcome: { readonly plaintext: Uint8Array<ArrayBuffer> } | { readonly error: unknown } | undefined;
}

/**
 * Records of one stream, in any order → messages in order. A small record that is next is dealt with before
 * {@linkcode accept} returns. What waits is counted in the budget.
 */
export class RecordReceiver {
  readonly #options: RecordReceiverOptions;
  readonly #window: ReorderWindow;
  readonly #assembler: MessageAssembler;
  /** In order. The first `#begun` are being opened, or are open. */
  readonly #openings: Opening[] = [];
  #begun = 0;
  /** What the budget was asked for, without the assembler's part. */
  #heldBytes = 0;
  #whenIdle: (() => void) | undefined;
  #ended = false;

  /** @param firstSeq The number of the first record. */
  constructor(options: RecordReceiverOptions, firstSeq = 0) {
    this.#options = options;
    this.#window = new ReorderWindow(firstSeq);
    this.#assembler = new MessageAssembler(options.budget);
  }

  accept(seq: number, record: Uint8Array<ArrayBuffer>): void {
    if (this.#ended) return;
    try {
      const before = this.#window.heldBytes;
      const ready = this.#window.accept(seq, record);
      this.#hold(this.#window.heldBytes - before);
      for (const next of ready) this.#open(next);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Calls `act` when every record whose turn has come is dealt with; at once if that is so. */
  whenIdle(act: () => void): void {
    if (this.#openings.length === 0) act();
    else this.#whenIdle = act;
  }

  /** Nothing more is delivered; what was held is forgotten. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#openings.length = 0;
    this.#window.clear();
    this.#hold(-this.#heldBytes);
    this.#assembler[Symbol.dispose]();
  }

  /** @throws {StreamError} */
  #open(record: Uint8Array<ArrayBuffer>): void {
    if (this.#ended) return;
    if (this.#openings.length === 0) {
      const plaintext = this.#options.cipher.open(record);
      if (plaintext instanceof Uint8Array) return this.#assemble(plaintext);
      this.#await(this.#enqueue(record), plaintext);
    } else {
      this.#enqueue(record);
      this.#begin();
    }
  }

  #enqueue(record: Uint8Array<ArrayBuffer>): Opening {
    this.#hold(weightOf(record));
    const opening: Opening = { record, outcome: undefined };
    this.#openings.push(opening);
    return opening;
  }

  #begin(): void {
    while (this.#begun < this.#openings.length && this.#begun < MAX_OPENING) {
      const opening = this.#openings[this.#begun]!;
      try {
        const plaintext = this.#options.cipher.open(opening.record);
        if (!(plaintext instanceof Uint8Array)) {
          this.#await(opening, plaintext);
          continue;
        }
        opening.outcome = { plaintext };
      } catch (error) {
        // What stands before it is delivered first.
        opening.outcome = { error };
      }
      this.#begun++;
    }
  }

  #await(opening: Opening, plaintext: Promise<Uint8Array<ArrayBuffer>>): void {
    this.#begun++;
    const settled = (outcome: Opening["outcome"]): void => {
      opening.outcome = outcome;
      this.#assembleOpened();
    };
    plaintext.then((plaintext) => settled({ plaintext }), (error) => settled({ error }));
  }

  #assembleOpened(): void {
    try {
      for (let first = this.#openings[0]; first?.outcome !== undefined; first = this.#openings[0]) {
        this.#openings.shift();
        this.#begun--;
        this.#hold(-weightOf(first.record));
        if ("error" in first.outcome) throw first.outcome.error;
        this.#assemble(first.outcome.plaintext);
        if (this.#ended) return;
        this.#begin();
      }
    } catch (error) {
      return this.#fail(error);
    }
    if (this.#openings.length === 0) this.#whenIdle?.();
  }

  #assemble(plaintext: Uint8Array<ArrayBuffer>): void {
    for (const message of this.#assembler.push(plaintext)) {
      this.#options.message(message);
      if (this.#ended) return;
    }
  }

  /** @throws {StreamError} The budget is used up. */
  #hold(bytes: number): void {
    if (bytes <= 0) this.#options.budget.give(-bytes);
    else if (!this.#options.budget.take(bytes)) throw new StreamError("too much held");
    this.#heldBytes += bytes;
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    if (error instanceof RecordError) this.#options.failed(new StreamError("bad record"));
    else if (error instanceof StreamError) this.#options.failed(error);
    else throw error;
  }
}

/** What a record that waits counts in the budget. */
function weightOf(record: Uint8Array): number {
  return record.length + RECORD_OVERHEAD_BYTES;
}
