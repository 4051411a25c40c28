/** What a version of bubblewrap can do, as its NEWS tell. */
export interface BubblewrapVersion {
  /** `0.8.0`. */
  readonly text: string;
  /** `--disable-userns`, 0.8.0. */
  readonly disablesUserNamespaces: boolean;
  /** `--argv0`, 0.9.0. */
  readonly setsProgramName: boolean;
}

/** The first one with `--perms`, which covers need. */
const OLDEST = [0, 5, 0];

/**
 * @param output What `bwrap --version` prints.
 * @param help What `bwrap --help` prints: one option a line.
 * @returns Why it cannot be used, as a text, if it is too old or something else.
 */
export function bubblewrapVersion(output: string, help: string): BubblewrapVersion | string {
  const found = /^bubblewrap (\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?\s*$/.exec(output);
  if (found === null) return "it does not say that it is bubblewrap";
  const version = [found[1], found[2], found[3] ?? "0"].map(Number);
  const text = version.join(".");
  if (!isAtLeast(version, OLDEST)) return `version ${text} is too old, ${OLDEST.join(".")} or newer is needed`;
  // Of 0.10.0; distributions have brought them to older ones.
  if (!/^ *--bind-fd /m.test(help) || !/^ *--ro-bind-fd /m.test(help)) {
    return `version ${text} binds no descriptors (--bind-fd), so links could lead it astray; 0.10.0 or newer does`;
  }
  return {
    text,
    disablesUserNamespaces: isAtLeast(version, [0, 8, 0]),
    setsProgramName: isAtLeast(version, [0, 9, 0]),
  };
}

function isAtLeast(version: readonly number[], other: readonly number[]): boolean {
  const index = version.findIndex((part, at) => part !== other[at]);
  return index < 0 || version[index]! > other[index]!;
}
