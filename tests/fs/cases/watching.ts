/** What a watch for missing paths has to notice, and what not; for every back end. What is expected is the reference's. */

/** Paths are relative to a directory of the case's own, unless they begin with a slash. */
export interface WatchCase {
  readonly name: string;
  readonly missing: readonly string[];
  readonly present?: string;
  /** What there is before. */
  readonly setUp?: (at: (path: string) => string) => void;
  /** Whether there is anything to wait for. */
  readonly watching: boolean;
  /** What happens then without being noticed, and in the end what is noticed. */
  readonly unnoticed?: (at: (path: string) => string) => void;
  readonly noticed?: (at: (path: string) => string) => void;
  /** It rests on something that only this system's back end sees. */
  readonly onlyOn?: "linux";
}

type At = (path: string) => string;

const write = (path: string, text = "") => Deno.writeTextFileSync(path, text);
const PAST = new Date(1e12);
const deep = (directories: number) => Array.from({ length: directories }, () => "d").join("/");

const APPEARS: readonly WatchCase[] = [
  {
    name: "a file is created, beside others",
    missing: ["a"],
    watching: true,
    unnoticed: (at) => {
      write(at("b"), "1");
      Deno.mkdirSync(at("aa"));
      Deno.renameSync(at("b"), at("c"));
      Deno.removeSync(at("c"));
    },
    noticed: (at) => write(at("a")),
  },
  {
    name: "a file is created and removed at once",
    missing: ["a"],
    watching: true,
    noticed: (at) => {
      write(at("a"));
      Deno.removeSync(at("a"));
    },
  },
  {
    name: "a file is created whose name differs in case",
    missing: ["ab/x"],
    watching: true,
    noticed: (at) => write(at("aB")),
    onlyOn: "linux",
  },
  {
    name: "a file is created whose name is not ASCII",
    missing: ["ab/x"],
    watching: true,
    noticed: (at) => write(at("é")),
    onlyOn: "linux",
  },
  {
    name: "a file is renamed into place",
    missing: ["a"],
    setUp: (at) => write(at("t")),
    watching: true,
    noticed: (at) => Deno.renameSync(at("t"), at("a")),
  },
  {
    name: "a dangling link is made",
    missing: ["a"],
    watching: true,
    noticed: (at) => Deno.symlinkSync("nowhere", at("a")),
  },
  {
    name: "a hard link is made",
    missing: ["a"],
    setUp: (at) => write(at("t")),
    watching: true,
    noticed: (at) => Deno.linkSync(at("t"), at("a")),
  },
  { name: "a directory above appears", missing: ["x/y/z"], watching: true, noticed: (at) => Deno.mkdirSync(at("x")) },
  {
    name: "a directory above appears for a moment",
    missing: ["x/y/z"],
    watching: true,
    noticed: (at) => {
      Deno.mkdirSync(at("x"));
      Deno.removeSync(at("x"));
    },
  },
  {
    name: "a file appears where a directory is missing",
    missing: ["x/y"],
    watching: true,
    noticed: (at) => write(at("x")),
  },
  {
    name: "one of several directories appears",
    missing: ["a", "b/c", "b/c"],
    watching: true,
    noticed: (at) => Deno.mkdirSync(at("b")),
  },
];

const WAY_CHANGES: readonly WatchCase[] = [
  {
    name: "the directory is removed",
    missing: ["p/a"],
    setUp: (at) => Deno.mkdirSync(at("p")),
    watching: true,
    noticed: (at) => Deno.removeSync(at("p")),
  },
  {
    name: "a directory further above is renamed",
    missing: ["p/q/a"],
    setUp: (at) => Deno.mkdirSync(at("p/q"), { recursive: true }),
    watching: true,
    noticed: (at) => Deno.renameSync(at("p"), at("r")),
  },
  {
    name: "a directory further above gets another mode",
    missing: ["p/q/a"],
    setUp: (at) => Deno.mkdirSync(at("p/q"), { recursive: true }),
    watching: true,
    noticed: (at) => Deno.chmodSync(at("p"), 0o700),
  },
];

const withFile = (at: At) => write(at("p"), "1");
const withDirectory = (at: At) => Deno.mkdirSync(at("p"));
const watchingPresent = { missing: ["a"], present: "p", watching: true } as const;

const PRESENT_CHANGES: readonly WatchCase[] = [
  {
    ...watchingPresent,
    name: "the present file gets other content, after it and others were looked at",
    setUp: withFile,
    unnoticed: (at) => {
      Deno.readTextFileSync(at("p"));
      Deno.openSync(at("p"), { write: true }).close();
      write(at("other"), "1");
      write(at("other"), "2");
      Deno.removeSync(at("other"));
    },
    noticed: (at) => write(at("p"), "2"),
  },
  {
    ...watchingPresent,
    name: "the present file gets the same content",
    setUp: withFile,
    noticed: (at) => write(at("p"), "1"),
  },
  {
    ...watchingPresent,
    name: "an empty present file is made empty",
    setUp: (at) => write(at("p")),
    noticed: (at) => Deno.truncateSync(at("p"), 0),
  },
  {
    ...watchingPresent,
    name: "the present file gets another mode",
    setUp: withFile,
    noticed: (at) => Deno.chmodSync(at("p"), 0o600),
  },
  {
    ...watchingPresent,
    name: "the present file gets other times",
    setUp: withFile,
    noticed: (at) => Deno.utimeSync(at("p"), PAST, PAST),
  },
  {
    ...watchingPresent,
    name: "the present file is removed, but for its other name",
    setUp: (at) => {
      withFile(at);
      Deno.linkSync(at("p"), at("l"));
    },
    noticed: (at) => Deno.removeSync(at("p")),
  },
  {
    ...watchingPresent,
    name: "another file is renamed onto the present one",
    setUp: (at) => {
      withFile(at);
      write(at("n"), "1");
    },
    noticed: (at) => Deno.renameSync(at("n"), at("p")),
  },
  {
    ...watchingPresent,
    name: "a directory above the present file is renamed",
    present: "g/h/p",
    setUp: (at) => {
      Deno.mkdirSync(at("g/h"), { recursive: true });
      write(at("g/h/p"));
    },
    noticed: (at) => Deno.renameSync(at("g"), at("g2")),
  },
  {
    ...watchingPresent,
    name: "the present directory is removed, after its content has changed",
    setUp: withDirectory,
    unnoticed: (at) => {
      write(at("p/x"));
      Deno.mkdirSync(at("p/y"));
      Deno.renameSync(at("p/y"), at("p/z"));
      for (const name of ["x", "z"]) Deno.removeSync(at(`p/${name}`));
    },
    noticed: (at) => Deno.removeSync(at("p")),
  },
  {
    ...watchingPresent,
    name: "the present directory is renamed",
    setUp: withDirectory,
    noticed: (at) => Deno.renameSync(at("p"), at("p2")),
  },
  {
    name: "the missing path appears in the present directory, after something else has",
    missing: ["p/a"],
    present: "p",
    setUp: withDirectory,
    watching: true,
    unnoticed: (at) => write(at("p/b"), "1"),
    noticed: (at) => write(at("p/a")),
  },
  {
    name: "the missing path appears while the root is present",
    missing: ["a"],
    present: "/",
    watching: true,
    noticed: (at) => write(at("a")),
  },
];

const withLinkedDirectory = (at: At) => {
  Deno.mkdirSync(at("r"));
  Deno.symlinkSync("r", at("l"));
};

const withLinkedFile = (at: At) => {
  withLinkedDirectory(at);
  write(at("r/p"));
};

const REFUSED: readonly WatchCase[] = [
  { name: "nothing is missing", missing: [], watching: false },
  { name: "nothing is missing, but something present", missing: [], present: "/", watching: false },
  { name: "one path exists", missing: ["a", "p"], setUp: withFile, watching: false },
  { name: "the path is the root", missing: ["/"], watching: false },
  { name: "a dangling link exists", missing: ["l"], setUp: (at) => Deno.symlinkSync("no", at("l")), watching: false },
  { name: "the path lies below a file", missing: ["p/x"], setUp: withFile, watching: false },
  { name: "a link to a directory is on the way", missing: ["l/a"], setUp: withLinkedDirectory, watching: false },
  {
    name: "a link is on the way to what is present",
    missing: ["a"],
    present: "l/p",
    setUp: withLinkedFile,
    watching: false,
  },
  {
    name: "a dangling link is on the way",
    missing: ["l/a"],
    setUp: (at) => Deno.symlinkSync("no", at("l")),
    watching: false,
  },
  { name: "a name has 256 bytes", missing: ["n".repeat(256)], watching: false },
  { name: "a path has 5,000 bytes", missing: ["x/" + "n".repeat(5000)], watching: false },
  { name: "what should be present is not there", missing: ["a"], present: "p", watching: false },
  {
    name: "the same path should be missing and present",
    missing: ["p"],
    present: "p",
    setUp: withFile,
    watching: false,
  },
  {
    name: "a link is present",
    missing: ["a"],
    present: "l",
    setUp: (at) => {
      withFile(at);
      Deno.symlinkSync("p", at("l"));
    },
    watching: false,
  },
  { name: "there are 65 directories on the way", missing: [deep(65)], watching: false },
  { name: "the kernel's own files are on the way", missing: ["/proc/nosuch"], watching: false, onlyOn: "linux" },
  { name: "a process's own files are on the way", missing: ["/proc/1/nosuch/x"], watching: false, onlyOn: "linux" },
];

export const WATCH_CASES: readonly WatchCase[] = [...APPEARS, ...WAY_CHANGES, ...PRESENT_CHANGES, ...REFUSED];
