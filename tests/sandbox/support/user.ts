/** As whom the server and all that belongs to a run of the suite are run. */

export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** What a command is preceded by to run as this user; it replaces itself by the command. */
  readonly prefix: readonly string[];
}

/** Nobody's numbers: nothing else on the machine belongs to them. */
const ORDINARY_ID = 65_430;
/** A second group of the ordinary user, and an owner that root may give files to. */
export const OTHER_ID = 65_431;
/** The group of programs that are to get it by being run. */
export const SET_GROUP_ID = 65_432;

/** The real one: who is it only in a user namespace cannot become others or give files to them. */
export const isRoot = Deno.build.os === "linux" && Deno.uid() === 0 &&
  /^\s*0\s+0\s+4294967295\s*$/.test(Deno.readTextFileSync("/proc/self/uid_map"));

/** Whoever runs the tests. */
export const SELF: User = {
  name: isRoot ? "root" : "an ordinary user",
  uid: Deno.uid() ?? 0,
  gid: Deno.gid() ?? 0,
  prefix: [],
};

/** Can be had by root alone. */
export const ORDINARY: User = {
  name: "an ordinary user",
  uid: ORDINARY_ID,
  gid: ORDINARY_ID,
  prefix: ["setpriv", `--reuid=${ORDINARY_ID}`, `--regid=${ORDINARY_ID}`, `--groups=${OTHER_ID}`, "--"],
};

/** Whoever can be tried here: root and an ordinary user where we are root, else ourselves. */
export const USERS: readonly User[] = isRoot ? [SELF, ORDINARY] : [SELF];
