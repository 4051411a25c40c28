/** All that was measured, by row, carrier and side. */
import { type Carrier, meets, type Row, type RowId, ROWS, type Side } from "./rows.ts";

/** One line of the report. `null` where nothing was measured, or nothing can be said. */
export interface Line {
  readonly row: Row;
  readonly carrier: Carrier;
  readonly samples: Readonly<Record<Side, number>>;
  readonly value: Readonly<Record<Side, number | null>>;
  /** Ours divided by the reference's. */
  readonly ratio: number | null;
  readonly target: number | null;
  /** Bound of our own figure. */
  readonly limit: number | null;
  readonly met: boolean | null;
}

export class Samples {
  readonly #values = new Map<string, number[]>();

  add(row: RowId, carrier: Carrier, side: Side, value: number): void {
    const key = `${row} ${carrier} ${side}`;
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, [value]);
    else values.push(value);
  }

  /** The measured rows in the order of {@linkcode ROWS}, WebSocket before stdio and relay. */
  lines(): Line[] {
    return ROWS.flatMap((row) => (["ws", "stdio", "relay"] as const).map((carrier) => this.#line(row, carrier)))
      .filter(({ samples }) => samples.ours + samples.reference > 0);
  }

  #line(row: Row & { id: RowId }, carrier: Carrier): Line {
    const [ours, reference] = [this.#of(row.id, carrier, "ours"), this.#of(row.id, carrier, "reference")];
    const value = { ours: quantile(ours, row.quantile), reference: quantile(reference, row.quantile) };
    const ratio = value.ours === null || value.reference === null ? null : value.ours / value.reference;
    const target = row.target[carrier] ?? null;
    const limit = row.limit ?? null;
    const [figure, bound] = limit === null ? [ratio, target] : [value.ours, limit];
    const met = figure === null || bound === null ? null : meets(row, figure, bound);
    const counts = { ours: ours.length, reference: reference.length };
    return { row, carrier, samples: counts, value, ratio, target, limit, met };
  }

  #of(row: RowId, carrier: Carrier, side: Side): number[] {
    return this.#values.get(`${row} ${carrier} ${side}`) ?? [];
  }
}

/**
 * The value below which the share `at` of `values` lies, between two of them in proportion; null of nothing.
 *
 * @param at 0 to 1.
 */
export function quantile(values: readonly number[], at: number): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * at;
  const [below, above] = [sorted[Math.floor(position)]!, sorted[Math.ceil(position)]!];
  return below + (above - below) * (position - Math.floor(position));
}
