/** Random `fs/*` requests on the paths of a tree. */
import fc from "fast-check";
import { type Field, json, optional, required, text, UNCONFINED } from "../method_fields.ts";
import { junk } from "../junk.ts";
import { objectOf, positional } from "../params.ts";

/** Stands for the base64 of so many bytes, see `content` in tree.ts. */
const DATA = /<data:(\d+)>/g;

/** Replaces the placeholders of data by base64 that `encode` makes. */
export function fillInData(request: string, encode: (size: number) => string): string {
  return request.replaceAll(DATA, (_, size) => encode(Number(size)));
}

const boolean = json("true", "false", "null");
const sandbox = json("null", "null", "null", UNCONFINED);
const data = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(0, 1, 2, 3, 50, 4097, 70_000, 1_048_576, 1_048_577).map((size) => `"<data:${size}>"`),
  },
  {
    weight: 1,
    arbitrary: text("YQ", "YQ=", "YR==", "YW Jj", "YWJj\n", "Y-_=", "Y", "====", "\u00e9", "YQ==YQ==", "="),
  },
);
const handleId = fc.oneof(
  { weight: 12, arbitrary: text("h", "h", "i") },
  {
    weight: 1,
    arbitrary: text(
      "",
      "\u00e9",
      "__proto__",
      "x".repeat(32),
      "x".repeat(33),
      "\u00e9".repeat(16),
      "\u00e9".repeat(17),
      "a\u0000b",
    ),
  },
);
/** Where reads and writes begin: around sizes, blocks and limits. */
const offset = fc.oneof(
  { weight: 6, arbitrary: json("0", "0", "1", "3", "99", "100", "4096", "65536", "70000", "1048575", "1048576") },
  {
    weight: 2,
    arbitrary: json(
      "2000000",
      "4294967296",
      "9007199254740993",
      "9223372036854775806",
      "9223372036854775807",
      "9223372036854775808",
      "18446744073709551615",
    ),
  },
  { weight: 1, arbitrary: json("18446744073709551616", "-1", "-0", "1.0", "1e3", "null", '"0"') },
);
const length = fc.oneof(
  { weight: 6, arbitrary: json("1", "2", "3", "100", "4096", "70000", "1048576") },
  { weight: 1, arbitrary: json("0", "1048577", "18446744073709551615", "18446744073709551616", "-1", "1.0", "null") },
);
const count = (...values: string[]) =>
  fc.oneof({ weight: 8, arbitrary: json(...values) }, { weight: 1, arbitrary: json("-1", "1.5", "null", '"1"') });
const walkOptions = fc.record({
  maxDepth: count("64", "64", "0", "1", "2", "65"),
  maxDirectories: count("10000", "10000", "0", "1", "2", "5", "10001"),
  maxEntries: count("50000", "50000", "0", "1", "2", "3", "7", "50001"),
  followDirectorySymlinks: count("true", "false"),
  pruneHiddenDirectories: fc.option(count("true", "false"), { nil: undefined, freq: 2 }),
}).map((members) =>
  `{${
    Object.entries(members).filter(([, value]) => value !== undefined).map(([name, value]) => `"${name}":${value}`)
      .join()
  }}`
);

/** The parameters of each method, in the order of declaration, and how often it is asked. */
function methods(uri: fc.Arbitrary<string>): Readonly<Record<string, { weight: number; fields: readonly Field[] }>> {
  const path = required("path", uri);
  const follow = optional("followSymlinks", boolean);
  const confined = optional("sandbox", sandbox);
  return {
    "fs/readFile": { weight: 8, fields: [path, follow, confined] },
    "fs/open": {
      weight: 10,
      fields: [required("handleId", handleId), path, optional("mode", text("read", "replace", "x")), confined],
    },
    "fs/readBlock": {
      weight: 8,
      fields: [required("handleId", handleId), required("offset", offset), required("len", length)],
    },
    "fs/writeBlock": {
      weight: 8,
      fields: [required("handleId", handleId), required("offset", offset), required("chunk", data)],
    },
    "fs/close": { weight: 3, fields: [required("handleId", handleId)] },
    "fs/writeFile": { weight: 9, fields: [path, required("dataBase64", data), follow, confined] },
    "fs/createDirectory": { weight: 8, fields: [path, optional("recursive", boolean), follow, confined] },
    "fs/getMetadata": { weight: 8, fields: [path, follow, confined] },
    "fs/canonicalize": { weight: 5, fields: [path, confined] },
    "fs/readDirectory": { weight: 6, fields: [path, confined] },
    "fs/walk": { weight: 8, fields: [path, required("options", walkOptions), confined] },
    "fs/remove": {
      weight: 7,
      fields: [path, optional("recursive", boolean), optional("force", boolean), follow, confined],
    },
    "fs/copy": {
      weight: 14,
      fields: [
        required("sourcePath", uri),
        required("destinationPath", uri),
        required("recursive", json("true", "true", "false")),
        confined,
      ],
    },
  };
}

/** Nearly always right: what is wrong with parameters is for conversations about all methods. */
function paramsOf(fields: readonly Field[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 40, arbitrary: objectOf(fields, false) },
    { weight: 4, arbitrary: objectOf(fields, true) },
    { weight: 1, arbitrary: positional(fields) },
    { weight: 1, arbitrary: junk },
  );
}

/** Requests as texts, with placeholders for the tree and for data. */
export function requestsOn(uris: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const uri = uris.map((text) => JSON.stringify(text));
  return fc.oneof(
    ...Object.entries(methods(uri)).map(([method, { weight, fields }]) => ({
      weight,
      arbitrary: paramsOf(fields).map((params) => `{"id":1,"method":"${method}","params":${params}}`),
    })),
  );
}
