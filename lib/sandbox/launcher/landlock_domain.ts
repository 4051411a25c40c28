import * as calls from "../../linux/sandbox_calls.ts";
import { ENOENT } from "../../linux/errno.ts";
import { MIN_LANDLOCK_VERSION } from "../landlock_version.ts";
import type { LandlockRule } from "./launch_plan.ts";
import { LaunchFailure, must } from "./failure.ts";
import { terminalNode } from "./fresh_trees.ts";
import { Tree } from "./tree.ts";

const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
const TRUNCATE = 1n << 14n;
const IOCTL_DEV = 1n << 15n;
/** Every right on files that version 5 has, and 6 and 7 as well. */
const ALL_FILE_RIGHTS = (1n << 16n) - 1n;
/** BIND_TCP and CONNECT_TCP. */
const ALL_NETWORK_RIGHTS = 3n;
const FIRST_NETWORK_VERSION = 4;
/** Abstract Unix sockets, signals. */
const ABSTRACT_SOCKETS = 1n;
const SIGNALS = 2n;

const RIGHTS: Readonly<Record<LandlockRule["access"], bigint>> = {
  read: EXECUTE | READ_FILE | READ_DIR,
  write: ALL_FILE_RIGHTS,
  device: READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV,
};
/** The rights that a rule for something else than a directory may name. */
const RIGHTS_ON_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

/**
 * A set of rules, not yet in force.
 *
 * The terminal that we run on can be used by its name as well; others, which may be the user's, cannot.
 *
 * @param network Whether programs may use it.
 * @throws {LaunchFailure} If the kernel's Landlock is too old, or a rule is refused. What does not exist gets no rule.
 */
export function buildRuleset(rules: readonly LandlockRule[], network: boolean): number {
  const version = must("landlock_create_ruleset version", calls.landlockVersion());
  if (version < MIN_LANDLOCK_VERSION) {
    throw new LaunchFailure(`Landlock has version ${version}, ${MIN_LANDLOCK_VERSION} is needed`);
  }
  const scoped = network ? SIGNALS : SIGNALS | ABSTRACT_SOCKETS;
  const handled = network ? 0n : ALL_NETWORK_RIGHTS;
  const ruleset = must("landlock_create_ruleset", calls.createRuleset(ALL_FILE_RIGHTS, handled, scoped));
  for (const rule of rules) allow(ruleset, rule);
  const machine = Tree.open("/");
  const terminal = terminalNode(machine);
  calls.close(machine.fd);
  if (terminal !== undefined) allow(ruleset, { path: terminal, access: "device" });
  return ruleset;
}

/**
 * A set of rules that forbids TCP, which the filter does too. What it is for: a thread under any rules cannot trace what
 * is not under them, so that the memory of other processes, through `/proc`, is no way around the filter.
 *
 * @returns Undefined where the kernel has no Landlock that could be used for it (version 4, Linux 6.7).
 */
export function buildNetworkRuleset(): number | undefined {
  if (calls.landlockVersion() < FIRST_NETWORK_VERSION) return undefined;
  return must("landlock_create_ruleset", calls.createRuleset(0n, ALL_NETWORK_RIGHTS, 0n));
}

function allow(ruleset: number, { path, access }: LandlockRule): void {
  const name = calls.cBytes(path);
  const file = calls.openWithoutLinks(calls.AT_FDCWD, name, calls.O_PATH);
  if (file === -ENOENT) return;
  must(`openat2 ${path}`, file);
  const directory = calls.openWithoutLinks(calls.AT_FDCWD, name, calls.O_PATH | calls.O_DIRECTORY);
  const rights = directory < 0 ? RIGHTS[access] & RIGHTS_ON_A_FILE : RIGHTS[access];
  must(`landlock_add_rule ${path}`, calls.allowBeneath(ruleset, rights, directory < 0 ? file : directory));
  if (directory >= 0) calls.close(directory);
  calls.close(file);
}
