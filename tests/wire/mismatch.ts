/** What the server did is not what was recorded. The message is for a reader: what was expected, what came. */
export class Mismatch extends Error {
  override readonly name: string = "Mismatch";
}

/**
 * A mismatch that another run may not show: the answer depends on how far a program had got when it was asked, and
 * the machine was slower than the one that was recorded, or on what others do on the machine.
 */
export class TimingMismatch extends Mismatch {
  override readonly name = "TimingMismatch";
}

const SHOWN_CHARS = 2_000;

/** A value as JSON, cut to what a reader can take in. */
export function show(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? String(value);
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}… (${text.length} characters)`;
}
