/**
 * What every program in a sandbox of macOS may do, whatever the plan says of files and of the network, in the system's
 * own language for such policies. Each permission is one that ordinary programs fail without; none reaches a file of
 * anybody's or a process outside. Source of the names: the reference's policy, and Chromium's that it comes from.
 */

/** What tells a program about the hardware that it runs on. */
const HARDWARE = [
  ...["activecpu", "busfrequency_compat", "byteorder", "cacheconfig", "cachelinesize_compat", "cpufamily"],
  ...["cpufrequency", "cpufrequency_compat", "cputype", "l1dcachesize_compat", "l1icachesize_compat"],
  ...[
    "l2cachesize_compat",
    "l3cachesize_compat",
    "logicalcpu",
    "logicalcpu_max",
    "machine",
    "memsize",
    "model",
    "ncpu",
  ],
  ...["nperflevels", "packages", "pagesize", "pagesize_compat", "physicalcpu", "physicalcpu_max", "tbfrequency_compat"],
  "vectorunit",
];

/** And about the kernel. */
const KERNEL = [
  ...["argmax", "hostname", "maxfilesperproc", "maxproc", "osproductversion", "osrelease", "ostype"],
  ...["osvariant_status", "osversion", "secure_kernel", "usrstack64", "version"],
];

const SYSTEM_VALUES = [
  ...HARDWARE.map((name) => `hw.${name}`),
  ...KERNEL.map((name) => `kern.${name}`),
  ...["machdep.cpu.brand_string", "sysctl.proc_cputype", "vm.loadavg"],
];

/** `kern.proc.…` lists processes without their arguments and variables: those are `kern.procargs2`. */
const SYSTEM_VALUE_PREFIXES = [
  ...["hw.optional.arm.", "hw.optional.armv8_", "hw.perflevel", "kern.proc.pgrp.", "kern.proc.pid.", "net.routetable."],
];

/** Who am I, power management, and preferences. */
const SERVICES = [
  "com.apple.system.opendirectoryd.libinfo",
  "com.apple.PowerManagement.control",
  "com.apple.cfprefsd.daemon",
  "com.apple.cfprefsd.agent",
];

/** Names and trust, for connections. */
const NETWORK_SERVICES = [
  "com.apple.bsd.dirhelper",
  "com.apple.system.opendirectoryd.membership",
  "com.apple.SecurityServer",
  "com.apple.networkd",
  "com.apple.ocspd",
  "com.apple.trustd.agent",
  "com.apple.SystemConfiguration.DNSConfiguration",
  "com.apple.SystemConfiguration.configd",
];

/**
 * The beginning of every policy. Programs that change their user are not among what may be started (the reference lets
 * `/bin/ps` go unconfined, which shows the variables of the server's own process to whoever asks).
 */
export const BASE_POLICY = `(version 1)
(deny default)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow user-preference-read)
(allow ipc-posix-sem)
(allow ipc-posix-shm-read* (ipc-posix-name-prefix "apple.cfprefs."))
(allow ipc-posix-shm-read-data ipc-posix-shm-write-create ipc-posix-shm-write-unlink
  (ipc-posix-name-regex #"^/__KMP_REGISTERED_LIB_[0-9]+$"))
(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))
(allow sysctl-read
${lines("sysctl-name", SYSTEM_VALUES)}
${lines("sysctl-name-prefix", SYSTEM_VALUE_PREFIXES)})
(allow sysctl-write (sysctl-name "kern.grade_cputype"))
(allow mach-lookup
${lines("global-name", SERVICES)}
  (local-name "com.apple.cfprefsd.agent"))
(allow pseudo-tty)
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write*
  (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
(allow file-ioctl (regex #"^/dev/ttys[0-9]+$"))
(allow file-read* (literal "/") (literal "/dev/random") (literal "/dev/urandom") (literal "/dev/autofs_nowait"))
(allow file-read* file-write-data
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper"))
(allow file-read-data file-write-data (subpath "/dev/fd"))
(allow file-ioctl (literal "/dev/tty") (literal "/dev/dtracehelper"))
(allow file-read-metadata
  (literal "/dev") (literal "/dev/stdin") (literal "/dev/stdout") (literal "/dev/stderr"))
`;

/** For programs that may use the network, besides the connections themselves. */
export const NETWORK_POLICY = `(allow network-inbound)
(allow network-bind)
(allow system-socket)
(allow mach-lookup
${lines("global-name", NETWORK_SERVICES)})
`;

/** Through which names are looked up. */
export const NAME_SERVICE_SOCKET = "/private/var/run/mDNSResponder";

function lines(filter: string, names: readonly string[]): string {
  return names.map((name) => `  (${filter} "${name}")`).join("\n");
}
