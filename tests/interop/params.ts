/** Parameters of every method as JSON texts: mostly right, often wrong in one place, sometimes wrong altogether. */
import fc from "fast-check";
import { junk } from "./junk.ts";
import { type Field, METHODS, UNCONFINED } from "./method_fields.ts";

/** Members in any order, some left out, some replaced by junk, sometimes one too many. */
export function objectOf(fields: readonly Field[], faults: boolean): fc.Arbitrary<string> {
  const members = fields.map(({ name, valid, optional }) =>
    fc.oneof(
      { weight: faults ? 6 : 20, arbitrary: valid },
      { weight: faults ? 1 : 0, arbitrary: junk },
      { weight: optional ? 20 : faults ? 1 : 0, arbitrary: fc.constant(null) },
    ).map((value) => value === null ? null : `${JSON.stringify(name)}:${value}`)
  );
  const extra = faults
    ? fc.constantFrom("", "", "", "", '"zzz":1', '"__proto__":{}', '"cwd":"file:///"')
    : fc.constant("");
  const order = faults ? fc.shuffledSubarray(fields.map((_, i) => i), { minLength: fields.length }) : fc.constant(null);
  return fc.tuple(fc.tuple(...members), extra, order).map(([texts, extra, order]) => {
    const ordered = order === null ? texts : order.map((i) => texts[i]!);
    return `{${[...ordered, extra].filter((text) => text !== null && text !== "").join()}}`;
  });
}

/** Values in the order of declaration: all, too few or too many. */
export function positional(fields: readonly Field[]): fc.Arbitrary<string> {
  const values = fields.map(({ valid }) => valid);
  return fc.tuple(fc.tuple(...values), fc.nat(fields.length + 1)).map(([texts, length]) =>
    `[${[...texts, "null"].slice(0, length).join()}]`
  ).map((text) => text.replaceAll(UNCONFINED, "null").replaceAll('["./nohash"]', '["./noexec.sh"]'));
}

/** A program that is there, named so that it need not be searched for. */
const FOUND_AT_ONCE = /"argv":\["\/(usr\/)?bin\/[a-z]+"/;

/**
 * Leaves out what differs on purpose and would leave a process on one side only: inside a sandbox that restricts
 * nothing a managed network (ours refuses it) and programs that must be looked for (the reference leaves that to a
 * helper, which has started by then), and a file that is no program on a terminal (ours refuses it as on pipes, the
 * reference's child aborts, unless arg0 is set).
 */
function avoidDivergence(params: string): string {
  let calm = params;
  if (calm.includes(UNCONFINED)) {
    calm = calm.replaceAll('"enforceManagedNetwork":true', '"enforceManagedNetwork":false');
    if (calm.includes('"argv":') && !FOUND_AT_ONCE.test(calm)) calm = calm.replaceAll(UNCONFINED, "null");
  }
  if (calm.includes('"./nohash"') && !calm.includes('"arg0":"')) calm = calm.replaceAll('"tty":true', '"tty":false');
  return calm;
}

/** `"params":…` for a method, or nothing. */
function paramsOf(fields: readonly Field[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 10, arbitrary: objectOf(fields, false) },
    { weight: 8, arbitrary: objectOf(fields, true) },
    { weight: 2, arbitrary: positional(fields) },
    { weight: 1, arbitrary: junk },
  ).map((value) => `,"params":${avoidDivergence(value)}`);
}

/** A method that exists and parameters for it. */
export const call: fc.Arbitrary<{ method: string; params: string }> = fc.oneof(
  ...Object.entries(METHODS).map(([method, fields]) => ({
    weight: method === "process/start" ? 14 : method.startsWith("process/") ? 6 : 1,
    arbitrary: fc.record({
      method: fc.constant(method),
      params: fc.oneof({ weight: 20, arbitrary: paramsOf(fields) }, { weight: 1, arbitrary: fc.constant("") }),
    }),
  })),
);
