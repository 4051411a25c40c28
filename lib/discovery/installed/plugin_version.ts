/** The directory of this name wins over all versions. */
const LOCAL = "local";

/** Of the directories of a plugin the one that counts; undefined if none is a version. */
export function activeVersion(directories: readonly string[]): string | undefined {
  const versions = directories.filter((name) => /^[A-Za-z0-9._+-]+$/.test(name) && name !== "." && name !== "..");
  if (versions.includes(LOCAL)) return LOCAL;
  return versions.toSorted(compareVersions).at(-1);
}

/** As semantic versions if both are, else as texts. */
function compareVersions(one: string, other: string): number {
  const [left, right] = [semanticVersion(one), semanticVersion(other)];
  if (left === undefined || right === undefined) return one < other ? -1 : one > other ? 1 : 0;
  return left.numbers.reduce((order, number, place) => order || compare(number, right.numbers[place] as bigint), 0) ||
    // A release comes after all that led to it; of builds those with a name after the one without.
    Number(right.pre !== "") - Number(left.pre !== "") ||
    compareIdentifiers(left.pre, right.pre) || Number(left.build !== "") - Number(right.build !== "") ||
    compareIdentifiers(left.build, right.build);
}

interface SemanticVersion {
  readonly numbers: readonly bigint[];
  /** Empty if there is none. */
  readonly pre: string;
  readonly build: string;
}

const MAX_U64 = 2n ** 64n - 1n;

function semanticVersion(text: string): SemanticVersion | undefined {
  const match = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([\w.-]+))?(?:\+([\w.-]+))?$/.exec(text);
  if (match === null) return undefined;
  const [, major, minor, patch, pre = "", build = ""] = match;
  const numbers = [major, minor, patch].map((digits) => BigInt(digits as string));
  const isName = (name: string) => /^[0-9A-Za-z-]+$/.test(name);
  const parts = [...pre === "" ? [] : pre.split("."), ...build === "" ? [] : build.split(".")];
  if (!parts.every(isName) || numbers.some((number) => number > MAX_U64)) return undefined;
  return pre.split(".").some((part) => /^0\d+$/.test(part)) ? undefined : { numbers, pre, build };
}

/** Numbers by value and before names, names as texts; what goes on comes later. */
function compareIdentifiers(one: string, other: string): number {
  const [left, right] = [one.split("."), other.split(".")];
  for (let at = 0; at < left.length && at < right.length; at++) {
    const order = compareIdentifier(left[at] as string, right[at] as string);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareIdentifier(one: string, other: string): number {
  const [left, right] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (left !== right) return left ? -1 : 1;
  if (!left) return one < other ? -1 : one > other ? 1 : 0;
  // Builds may have leading zeros: of equal numbers the longer one comes later.
  return compare(BigInt(one), BigInt(other)) || one.length - other.length;
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
