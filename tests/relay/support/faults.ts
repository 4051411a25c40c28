/**
 * What a bad rendezvous does to the frames between two ends. The decisions are made by chance that can be repeated: they
 * depend on the seed, the stream's number, the direction and how many frames came before, and on no time.
 */
import { Random } from "../../program/random.ts";
import { type FrameKind, type FrameView, withStreamId } from "./frame_view.ts";

export type Direction = "toExecutor" | "toHarness";

/** How often what happens: shares of all frames from 0 to 1. What is left out does not happen. */
export interface FaultRates {
  readonly loss?: number;
  readonly duplication?: number;
  /** The frame comes after up to `distance` later ones, or a moment later if there are none. */
  readonly reordering?: number;
  readonly delay?: number;
  /** One bit of the payload is turned over. */
  readonly bitFlips?: number;
  /** The frame comes under the id of another stream of the same executor. */
  readonly swaps?: number;
  /** Of handshake frames: how many come once more, after up to `distance` later frames. */
  readonly replays?: number;
  /** 8 unless said otherwise. */
  readonly distance?: number;
  /** Longest delay in milliseconds; 20 unless said otherwise. */
  readonly delayMs?: number;
  /** Which frames are subject to faults; data alone unless said otherwise. Replays concern handshakes in any case. */
  readonly kinds?: readonly FrameKind[];
  /** Both unless said otherwise. */
  readonly direction?: Direction;
  /** So many of each stream and direction are spared first. */
  readonly spared?: number;
  /** No more faults than this for each stream and direction: after them the line is a good one. */
  readonly most?: number;
}

/** A frame that is to be delivered, and when. */
export interface Delivery {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** After so many further frames of the same line, or a moment later if they do not come. */
  readonly afterFrames?: number;
  /** After so many milliseconds. */
  readonly afterMs?: number;
}

/** One direction of one stream. */
export class FaultyLine {
  readonly #random: Random;
  readonly #rates: FaultRates;
  readonly #active: boolean;
  #passed = 0;
  #faults = 0;

  /** @param number How many streams came before. */
  constructor(rates: FaultRates, seed: number, number: number, direction: Direction) {
    this.#rates = rates;
    this.#active = rates.direction === undefined || rates.direction === direction;
    this.#random = new Random(Math.imul(seed ^ (number * 2 + (direction === "toHarness" ? 1 : 0)), 0x9e3779b1));
  }

  /**
   * What becomes of a frame.
   *
   * @param others Ids of the other streams, in the order in which they came.
   */
  pass(bytes: Uint8Array<ArrayBuffer>, view: FrameView, others: () => readonly string[]): readonly Delivery[] {
    const whole = [{ bytes }];
    if (!this.#active) return whole;
    const { distance = 8, delayMs = 20, kinds = ["data"], spared = 0, most = Infinity } = this.#rates;
    const index = this.#passed++;
    if (index < spared || this.#faults >= most) return whole;
    if (view.kind === "handshake" && this.#happens("replays")) {
      return [{ bytes }, { bytes, afterFrames: 1 + this.#random.below(distance) }];
    }
    if (!kinds.includes(view.kind)) return whole;
    if (this.#happens("loss")) return [];
    if (this.#happens("duplication")) return [{ bytes }, { bytes, afterFrames: this.#random.below(distance) }];
    if (this.#happens("reordering")) return [{ bytes, afterFrames: 1 + this.#random.below(distance) }];
    if (this.#happens("delay")) return [{ bytes, afterMs: 1 + this.#random.below(delayMs) }];
    if (this.#happens("bitFlips") && view.payload.length > 0) return [{ bytes: this.#flipped(bytes, view) }];
    if (this.#happens("swaps")) {
      const [first, ...rest] = others();
      return first === undefined ? whole : [{ bytes: withStreamId(bytes, this.#random.pick([first, ...rest])) }];
    }
    return whole;
  }

  #happens(fault: "loss" | "duplication" | "reordering" | "delay" | "bitFlips" | "swaps" | "replays"): boolean {
    const rate = this.#rates[fault] ?? 0;
    if (rate === 0 || this.#random.below(1_000_000) >= rate * 1_000_000) return false;
    this.#faults++;
    return true;
  }

  #flipped(bytes: Uint8Array<ArrayBuffer>, { payload }: FrameView): Uint8Array<ArrayBuffer> {
    const flipped = bytes.slice();
    const at = payload.byteOffset - bytes.byteOffset + this.#random.below(payload.length);
    flipped[at]! ^= 1 << this.#random.below(8);
    return flipped;
  }
}
