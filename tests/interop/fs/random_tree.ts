/** Random trees: every kind of file, odd names, links of all sorts. */
import fc from "fast-check";
import { type BytePath, bytePath } from "./posix.ts";
import { type Entry, type Time, TREE } from "./tree.ts";

/** Few and plain, so that requests meet what is there. */
const COMMON_NAMES: readonly BytePath[] = ["a", "b", "c", "d"];

const ODD_NAMES: readonly BytePath[] = [
  ".h",
  "B",
  "a b",
  bytePath("é"),
  bytePath("e\u0301"),
  bytePath("\u{1f600}"),
  "a%2Fb",
  "%",
  "%41",
  "back\\slash",
  "q\"uo'te",
  "\xff\xfe",
  "a\xc3",
  bytePath("\ufffd"),
  "*",
  "?x#y",
  "<{`^|}>",
  "\x01\x7f",
  "...",
  "..a",
  "~",
  "C:",
  "C|",
  "-rf",
  "+,;:@&=!$()",
  "[1]",
  "n".repeat(255),
];

/** The reference loses these letters in a walk. */
const BROKEN_NAMES: readonly BytePath[] = ["new\nline", "tab\t", "a\r"];

export const names: fc.Arbitrary<BytePath> = fc.oneof(
  { weight: 50, arbitrary: fc.constantFrom(...COMMON_NAMES) },
  { weight: 20, arbitrary: fc.constantFrom(...ODD_NAMES) },
  { weight: 1, arbitrary: fc.constantFrom(...BROKEN_NAMES) },
);

const times: fc.Arbitrary<Time> = fc.constantFrom<Time>(
  [1_000_000_000, 0],
  [1_000_000_000, 999_999_999],
  [0, 0],
  [0, 999_999],
  [-1, 0],
  [-1, 999_500_000],
  [-315_619_200, 0],
  [4_294_967_296, 1],
);

const sizes = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(0, 1, 2, 3, 5, 100, 4095, 4096, 8192) },
  { weight: 1, arbitrary: fc.constantFrom(65_535, 65_537, 1_048_576, 1_048_577) },
);
const fileModes = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0o644) },
  { weight: 2, arbitrary: fc.constantFrom(0o600, 0o755, 0o444, 0o000, 0o200, 0o4755, 0o2755, 0o6711, 0o1644, 0o777) },
);
const directoryModes = fc.oneof(
  { weight: 5, arbitrary: fc.constant(0o755) },
  { weight: 1, arbitrary: fc.constantFrom(0o700, 0o555, 0o333, 0o444, 0o000, 0o2775, 0o1777, 0o111) },
);

/** How a link names what it leads to. */
const LINK_FORMS = ["absolute", "relative", "dotted", "slashed", "missing", "below", "self", "here", "up"] as const;

/** What an entry is, before it is known where it and the others are. */
type Making =
  | { readonly kind: "file"; readonly size: number; readonly mode: number; readonly time: Time }
  | { readonly kind: "directory"; readonly mode: number; readonly time: Time }
  | { readonly kind: "link"; readonly target: number; readonly form: typeof LINK_FORMS[number]; readonly time: Time }
  | { readonly kind: "hard link"; readonly target: number }
  | { readonly kind: "fifo" }
  | { readonly kind: "socket" }
  | { readonly kind: "crowd"; readonly count: number };

const making: fc.Arbitrary<Making> = fc.oneof(
  {
    weight: 60,
    arbitrary: fc.record({ kind: fc.constant("file" as const), size: sizes, mode: fileModes, time: times }),
  },
  {
    weight: 60,
    arbitrary: fc.record({ kind: fc.constant("directory" as const), mode: directoryModes, time: times }),
  },
  {
    weight: 50,
    arbitrary: fc.record({
      kind: fc.constant("link" as const),
      target: fc.nat(40),
      form: fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom("absolute" as const, "relative" as const) },
        { weight: 10, arbitrary: fc.constantFrom(...LINK_FORMS) },
      ),
      time: times,
    }),
  },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant("hard link" as const), target: fc.nat(40) }) },
  { weight: 10, arbitrary: fc.constant({ kind: "fifo" as const }) },
  { weight: 10, arbitrary: fc.constant({ kind: "socket" as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("crowd" as const), count: fc.constantFrom(30, 30, 30, 130, 130, 1100) }),
  },
);

/** An entry goes into one of the directories before it. */
const placed = fc.record({ directory: fc.nat(20), name: names, making });

export const trees: fc.Arbitrary<readonly Entry[]> = fc.array(placed, { maxLength: 22, size: "max" }).map((list) => {
  const directories: BytePath[] = [""];
  const paths = list.map(({ directory, name, making }) => {
    // The latest ones are as likely as the first, so that some trees are deep.
    const parent = directories[directory % directories.length]!;
    const path = parent === "" ? name : `${parent}/${name}`;
    if (making.kind === "directory" || making.kind === "crowd") directories.push(path);
    return path;
  });
  return list.map(({ making }, i) => entryOf(paths[i]!, making, paths));
});

function entryOf(path: BytePath, making: Making, paths: readonly BytePath[]): Entry {
  if (making.kind !== "link" && making.kind !== "hard link") return { path, ...making };
  const target = paths[making.target % paths.length]!;
  if (making.kind === "hard link") return { path, kind: "hard link", to: target };
  return { path, kind: "link", to: targetOf(path, target, making.form), time: making.time };
}

function targetOf(path: BytePath, target: BytePath, form: typeof LINK_FORMS[number]): BytePath {
  const upward = "../".repeat(path.split("/").length - 1);
  switch (form) {
    case "absolute":
      return `${TREE}/${target}`;
    case "relative":
      return upward + target;
    case "dotted":
      return `./${upward}.//${target}`;
    case "slashed":
      return `${TREE}/${target}/`;
    case "missing":
      return `${upward}${target}-missing`;
    case "below":
      return `${upward}${target}/a`;
    case "self":
      return path.slice(path.lastIndexOf("/") + 1);
    case "here":
      return ".";
    case "up":
      return "..";
  }
}
