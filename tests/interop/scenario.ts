/** Random conversations: what both servers are told, step by step. */
import fc from "fast-check";
import { blanks, brokenJson, junk } from "./junk.ts";
import { call } from "./params.ts";

/**
 * One thing that the client does. `text` and `hex` are whole messages, `values` is a request with an array of so many
 * values, `reconnect` drops the connection first.
 */
export type Step =
  | { readonly text: string; readonly as?: "binary" | "fragments" }
  | { readonly hex: string; readonly as?: "binary" }
  | { readonly values: number }
  | { readonly reconnect: "resume" | "new" };

export interface Scenario {
  /** How far the handshake goes before the steps. */
  readonly handshake: "none" | "initialize" | "all";
  readonly steps: readonly Step[];
}

const id = fc.oneof(
  { weight: 10, arbitrary: fc.integer({ min: 1, max: 9 }).map(String) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '"a"',
      '""',
      '"é\\u0000\\ud83d\\ude00"',
      "0",
      "-7",
      "9007199254740993",
      "9223372036854775807",
      "-9223372036854775808",
    ),
  },
  { weight: 1, arbitrary: fc.oneof(junk, fc.constantFrom("9223372036854775808", "-9223372036854775809")) },
);

const method = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("nope", "", "initialized", "process/resize", "fs/join", "__proto__") },
  { weight: 1, arbitrary: fc.constantFrom("toString", "Initialize", "process/start ", "é\\u0000", "rpc.discover") },
).map((name) => `"${name}"`);

const trace = fc.constantFrom(
  "null",
  "{}",
  '{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=b"}',
  '{"traceparent":null}',
  '{"traceparent":1}',
  '{"tracestate":[]}',
  '"x"',
  "[]",
  '["a"]',
  '["a","b"]',
  '["a","b","c"]',
  "5",
);

/** A request that is well-formed outside its parameters. */
const request: fc.Arbitrary<string> = fc.tuple(id, call).map(([id, { method, params }]) =>
  `{"id":${id},"method":${JSON.stringify(method)}${params}}`
);

/** An envelope with members in any order, of any type, too many or too few. */
const envelope: fc.Arbitrary<string> = fc.tuple(
  fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7], { minLength: 1, maxLength: 5 }),
  fc.tuple(
    id.map((value) => `"id":${value}`),
    fc.oneof(method, call.map((call) => JSON.stringify(call.method)), junk).map((value) => `"method":${value}`),
    fc.oneof(junk, brokenJson).map((value) => `"params":${value}`),
    trace.map((value) => `"trace":${value}`),
    fc.oneof(junk, fc.constant('"2.0"')).map((value) => `"jsonrpc":${value}`),
    junk.map((value) => `"result":${value}`),
    fc.oneof(
      fc.constantFrom('{"code":1,"message":"x"}', '{"code":1}', '{"message":"x"}', '{"code":"1","message":"x"}'),
      fc.constantFrom('{"code":1,"message":1}', '{"code":1.5,"message":""}', '[1,"x"]', '[1,"x",null,2]'),
      junk,
    ).map((value) => `"error":${value}`),
    fc.constantFrom('"id":1', '"method":"nope"', '"zzz":{"a":[1]}', '"\\u0069d":2', '"__proto__":null'),
  ),
).map(([order, members]) => `{${order.map((i) => members[i]!).join()}}`);

/** White space around tokens, something after the end, or the end too early. */
const mangled: fc.Arbitrary<string> = fc.tuple(
  fc.oneof(request, envelope),
  fc.array(blanks, { minLength: 4, maxLength: 4 }),
  fc.constantFrom("", "", "", " x", "{}", ",", "\u0000", "\n", "}"),
  fc.option(fc.nat(60)),
).map(([text, [a, b, c, d], after, cut]) => {
  const spaced = text.replace("{", `${a}{${b}`).replace(",", `${c},${d}`) + after;
  return cut === null ? spaced : spaced.slice(0, cut);
});

const nested: fc.Arbitrary<string> = fc.tuple(
  fc.constantFrom(["[", "]"], ['{"a":', "}"]),
  fc.constantFrom(60, 125, 126, 127, 128, 140),
  fc.constantFrom("1", "", "x", "[]"),
).map(([[open, close], times, middle]) =>
  `{"id":9,"method":"nope","params":${open!.repeat(times)}${middle}${close!.repeat(times)}}`
);

/** Around the limit of 262144 values: the object, `id`, `method` and the array are four of them. */
const crowded: fc.Arbitrary<Step> = fc.constantFrom(262_139, 262_140, 262_141).map((values) => ({ values }));

const message: fc.Arbitrary<Step> = fc.oneof(
  { weight: 24, arbitrary: request },
  { weight: 4, arbitrary: envelope },
  { weight: 3, arbitrary: mangled },
  { weight: 2, arbitrary: fc.oneof(junk, brokenJson) },
  { weight: 1, arbitrary: nested },
  { weight: 1, arbitrary: fc.constantFrom('{"method":"initialized"}', '{"method":"initialized","params":5}', "", " ") },
  { weight: 1, arbitrary: fc.constantFrom('{"method":"bogus"}', '{"id":1,"result":null}', '{"id":1,"method":"x"}') },
).map((text) => ({ text }));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 40, arbitrary: message },
  { weight: 1, arbitrary: crowded },
  { weight: 2, arbitrary: request.map((text) => ({ text, as: "binary" as const })) },
  { weight: 1, arbitrary: request.map((text) => ({ text, as: "fragments" as const })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("ff", "7b22", "efbbbf7b7d", "22c3", "22eda080", "2200").map((hex) => ({ hex })),
  },
  { weight: 1, arbitrary: fc.constantFrom("ff", "22c3", "7b7d").map((hex) => ({ hex, as: "binary" as const })) },
  { weight: 1, arbitrary: fc.constantFrom("resume" as const, "new" as const).map((reconnect) => ({ reconnect })) },
);

export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  handshake: fc.oneof(
    { weight: 1, arbitrary: fc.constant("none" as const) },
    { weight: 1, arbitrary: fc.constant("initialize" as const) },
    { weight: 6, arbitrary: fc.constant("all" as const) },
  ),
  steps: fc.array(step, { minLength: 1, maxLength: 14 }),
});
