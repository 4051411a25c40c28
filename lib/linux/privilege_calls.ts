/** What a thread gives up for good, for itself and all that it starts: rights, system calls, files. */

import { addressOf, type Bytes, bytesOf, NUMBERS, systemCall } from "./system_call.ts";

const PR_SET_PDEATHSIG = 1;
const PR_SET_SECCOMP = 22;
const PR_CAPBSET_DROP = 24;
const PR_SET_NO_NEW_PRIVS = 38;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4;
const SECCOMP_MODE_FILTER = 2;

/** The signal that this process gets when the thread that started it ends. */
export function setParentDeathSignal(signal: number): number {
  return systemCall(NUMBERS.prctl, PR_SET_PDEATHSIG, signal);
}

/** From now on no program gives us rights that we do not have, whatever its mode says. */
export function setNoNewPrivileges(): number {
  return systemCall(NUMBERS.prctl, PR_SET_NO_NEW_PRIVS, 1);
}

/** @param program Whole `struct sock_filter`s, eight bytes each. */
export function installFilter(program: Bytes): number {
  const header = new DataView(new ArrayBuffer(16));
  header.setUint16(0, program.length / 8, true);
  header.setBigUint64(8, addressOf(program), true);
  // The kernel reads no fifth argument here; it keeps the program in memory as long as its address is used.
  return systemCall(NUMBERS.prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, bytesOf(header), program);
}

export function clearAmbientCapabilities(): number {
  return systemCall(NUMBERS.prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
}

/** Takes a capability out of what programs can ever get; -EINVAL for a number that the kernel does not know. */
export function dropFromBoundingSet(capability: number): number {
  return systemCall(NUMBERS.prctl, PR_CAPBSET_DROP, capability);
}

const CAPABILITY_VERSION_3 = 0x20080522;

function capabilityHeader(): Bytes {
  return bytesOf(new Uint32Array([CAPABILITY_VERSION_3, 0]));
}

/** Gives up every capability of this thread. */
export function dropCapabilities(): number {
  return systemCall(NUMBERS.capset, capabilityHeader(), bytesOf(new Uint32Array(6)));
}

/** Whether this thread has any capability, used, allowed or to be inherited; or a negated error number. */
export function hasCapabilities(): boolean | number {
  const sets = new Uint32Array(6);
  const result = systemCall(NUMBERS.capget, capabilityHeader(), bytesOf(sets));
  return result < 0 ? result : sets.some((bits) => bits !== 0);
}

const LANDLOCK_CREATE_RULESET = 444;
const LANDLOCK_ADD_RULE = 445;
const LANDLOCK_RESTRICT_SELF = 446;

const LANDLOCK_CREATE_RULESET_VERSION = 1;
const LANDLOCK_RULE_PATH_BENEATH = 1;

/** What the kernel's Landlock can do, as a number from 1; -ENOSYS or -EOPNOTSUPP without it. */
export function landlockVersion(): number {
  return systemCall(LANDLOCK_CREATE_RULESET, 0, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/** Everything that a set of rules forbids where no rule allows it: file rights, network rights, what is scoped. */
export function createRuleset(files: bigint, network: bigint, scoped: bigint): number {
  const attributes = new BigUint64Array([files, network, scoped]);
  return systemCall(LANDLOCK_CREATE_RULESET, bytesOf(attributes), attributes.byteLength, 0);
}

/** @param file Open on what the rights are for: a file, or a directory with all below it. */
export function allowBeneath(ruleset: number, rights: bigint, file: number): number {
  const rule = new DataView(new ArrayBuffer(12));
  rule.setBigUint64(0, rights, true);
  rule.setInt32(8, file, true);
  return systemCall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, bytesOf(rule), 0);
}

/** Puts this thread under the rules, and all that it starts. */
export function restrictSelf(ruleset: number): number {
  return systemCall(LANDLOCK_RESTRICT_SELF, ruleset, 0);
}
