/** Random `fs/*` requests on the paths of a tree. */
import fc from "fast-check";
import { junk } from "../junk.ts";
import { type Field, json, optional, required, text, UNCONFINED } from "../method_fields.ts";
import { objectOf, positional } from "../params.ts";

/** Stands for the base64 of so many bytes, see `content` in tree.ts. */
const DATA = /<data:(\d+)>/g;

/** Replaces the placeholders of data by base64 that `encode` makes. */
export function fillInData(request: string, encode: (size: number) => string): string {
  return request.replaceAll(DATA, (_, size) => encode(Number(size)));
}

/** Where the URIs of requests come from; each is now and then none of its kind. */
export interface Uris {
  readonly file: fc.Arbitrary<string>;
  readonly directory: fc.Arbitrary<string>;
  /** Where something may be put. */
  readonly place: fc.Arbitrary<string>;
  readonly any: fc.Arbitrary<string>;
}

const boolean = json("true", "false", "null");
const sandbox = json("null", "null", "null", UNCONFINED);
const sizes = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(0, 1, 2, 3, 50, 99, 4097) },
  { weight: 1, arbitrary: fc.constantFrom(70_000, 1_048_576, 1_048_577) },
);
const data = fc.oneof(
  { weight: 12, arbitrary: sizes.map((size) => `"<data:${size}>"`) },
  {
    weight: 1,
    arbitrary: text("YQ", "YQ=", "YR==", "YW Jj", "YWJj\n", "Y-_=", "Y", "====", "\u00e9", "YQ==YQ==", "="),
  },
);
const handleId = fc.oneof(
  { weight: 20, arbitrary: text("h", "h", "i") },
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
  { weight: 12, arbitrary: json("0", "0", "1", "3", "99", "100", "101", "4096", "65536", "70000", "1048576") },
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
  { weight: 10, arbitrary: json("1", "2", "3", "100", "4096", "70000", "1048576") },
  { weight: 1, arbitrary: json("0", "1048577", "18446744073709551615", "18446744073709551616", "-1", "1.0", "null") },
);

/** Mostly ample. */
function limit(ample: string, ...others: string[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: json(ample, ...others) },
    { weight: 1, arbitrary: json("0", "65", "10001", "50001", "-1", "1.5", "null", '"1"', "true") },
  );
}

const walkOptions = fc.tuple(
  limit("64", "64", "0", "1", "2"),
  limit("10000", "10000", "1", "2", "5"),
  limit("50000", "50000", "1", "2", "3", "7"),
  limit("true", "false"),
  fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: limit("true", "false") }),
).map(([depth, directories, entries, follow, prune]) =>
  `{"maxDepth":${depth},"maxDirectories":${directories},"maxEntries":${entries},"followDirectorySymlinks":${follow}` +
  `${prune === null ? "" : `,"pruneHiddenDirectories":${prune}`}}`
);

const follow = optional("followSymlinks", boolean);
const confined = optional("sandbox", sandbox);
const recursive = optional("recursive", boolean);

/** The parameters of each method that names a path, in the order of declaration, and how often it is asked. */
function methods({ file, directory, place, any }: Uris): Readonly<Record<string, [weight: number, ...Field[]]>> {
  const path = (uris: fc.Arbitrary<string>) => required("path", uris);
  return {
    "fs/readFile": [6, path(file), follow, confined],
    "fs/open": [
      6,
      required("handleId", handleId),
      path(file),
      optional("mode", text("read", "replace", "replace", "x")),
      confined,
    ],
    "fs/writeFile": [8, path(file), required("dataBase64", data), follow, confined],
    "fs/createDirectory": [6, path(place), recursive, follow, confined],
    "fs/getMetadata": [6, path(any), follow, confined],
    "fs/canonicalize": [4, path(any), confined],
    "fs/readDirectory": [5, path(directory), confined],
    "fs/walk": [6, path(directory), required("options", walkOptions), confined],
    "fs/remove": [6, path(any), recursive, optional("force", boolean), follow, confined],
    "fs/copy": [
      12,
      required("sourcePath", any),
      required("destinationPath", place),
      required("recursive", json("true", "true", "false")),
      confined,
    ],
  };
}

/** Nearly always right: what is wrong with parameters is for conversations about all methods. */
function request(method: string, fields: readonly Field[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 40, arbitrary: objectOf(fields, false) },
    { weight: 2, arbitrary: objectOf(fields, true) },
    { weight: 1, arbitrary: positional(fields) },
    { weight: 1, arbitrary: junk },
  ).map((params) => `{"id":1,"method":"${method}","params":${params}}`);
}

/** Requests as texts, with placeholders for the tree and for data. */
export function requestsOn(uris: Uris): fc.Arbitrary<string> {
  return fc.oneof(
    ...Object.entries(methods(uris)).map(([method, [weight, ...fields]]) => ({
      weight,
      arbitrary: request(method, fields),
    })),
  );
}

/** What is done with a handle, now and then with another one. */
export function blockRequests(id: string): fc.Arbitrary<string> {
  const handle = required(
    "handleId",
    fc.oneof({ weight: 12, arbitrary: text(id) }, { weight: 1, arbitrary: handleId }),
  );
  return fc.oneof(
    { weight: 5, arbitrary: request("fs/readBlock", [handle, required("offset", offset), required("len", length)]) },
    { weight: 5, arbitrary: request("fs/writeBlock", [handle, required("offset", offset), required("chunk", data)]) },
    { weight: 1, arbitrary: request("fs/close", [handle]) },
  );
}

/** Opens a handle. */
export function opensOf(id: string, mode: "read" | "replace", uris: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const fields = [required("handleId", text(id)), required("path", uris), required("mode", text(mode))];
  return objectOf(fields, false).map((params) => `{"id":1,"method":"fs/open","params":${params}}`);
}

/** Waits for paths. Ids are few, so that they do not always rise. */
export function watchesOf(missing: fc.Arbitrary<string>, present: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const ids = fc.oneof(
    { weight: 19, arbitrary: json("1", "2", "3", "4", "5", "6", "7", "8", "9") },
    { weight: 1, arbitrary: json("0", "18446744073709551615", "18446744073709551616", "1.0", "null") },
  );
  const lists = fc.oneof(
    { weight: 9, arbitrary: fc.array(missing, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.tuple(missing, fc.constantFrom(63, 64, 65)).map(([uri, times]) => Array(times).fill(uri)),
    },
  ).map((uris) => `[${uris.join()}]`);
  const fields = [
    required("watchId", ids),
    required("missing", lists),
    optional("present", fc.oneof({ weight: 3, arbitrary: present }, { weight: 1, arbitrary: fc.constant("null") })),
  ];
  return request("fs/watchMissing", fields);
}
