/** Runs a command on a machine that lacks something, simulated: what comes before the command's words. */

const X86 = Deno.build.arch === "x86_64";
const PRCTL = X86 ? 157 : 167, CLONE = X86 ? 56 : 220, UNSHARE = X86 ? 272 : 97, CLONE3 = 435, CREATE_RULESET = 444;
const LOAD = 0x20, EQUAL = 0x15, HAS_BIT = 0x45, RETURN = 0x06;
const NUMBER = 0, FIRST_ARGUMENT = 16;
const ALLOW = 0x7fff0000, EPERM = 0x50001, ENOSYS = 0x50026;
const CLONE_NEWUSER = 0x10000000;

/** code, jump if true, jump if false, operand. */
type Instruction = readonly [number, number, number, number];

/** As container runtimes do by default: `clone3` is not there, because what it is asked for cannot be looked at. */
const NO_NAMESPACES: readonly Instruction[] = [
  [LOAD, 0, 0, NUMBER],
  [EQUAL, 7, 0, CLONE3],
  [EQUAL, 2, 0, CLONE],
  [EQUAL, 1, 0, UNSHARE],
  [RETURN, 0, 0, ALLOW],
  [LOAD, 0, 0, FIRST_ARGUMENT],
  [HAS_BIT, 0, 1, CLONE_NEWUSER],
  [RETURN, 0, 0, EPERM],
  [RETURN, 0, 0, ALLOW],
  [RETURN, 0, 0, ENOSYS],
];

/** As a kernel that was built without it. */
const NO_LANDLOCK: readonly Instruction[] = [
  [LOAD, 0, 0, NUMBER],
  [EQUAL, 1, 0, CREATE_RULESET],
  [RETURN, 0, 0, ALLOW],
  [RETURN, 0, 0, ENOSYS],
];

const INSTALL = `
  my ($filter, @command) = @ARGV;
  my $code = pack("H*", $filter);
  my $program = pack("S x6 P", length($code) / 8, $code);
  syscall(${PRCTL}, 38, 1, 0, 0, 0) == 0 && syscall(${PRCTL}, 22, 2, $program) == 0 or die "prctl: $!";
  exec { $command[0] } @command or die "$command[0]: $!";`;

function filtered(instructions: readonly Instruction[]): string[] {
  const code = new DataView(new ArrayBuffer(8 * instructions.length));
  for (const [index, [operation, jumpTrue, jumpFalse, operand]] of instructions.entries()) {
    code.setUint16(8 * index, operation, true);
    code.setUint8(8 * index + 2, jumpTrue);
    code.setUint8(8 * index + 3, jumpFalse);
    code.setUint32(8 * index + 4, operand, true);
  }
  return ["perl", "-e", INSTALL, "--", new Uint8Array(code.buffer).toHex()];
}

/** User namespaces are refused, so that neither bubblewrap nor `unshare` works. */
export const withoutNamespaces: readonly string[] = filtered(NO_NAMESPACES);

export const withoutLandlock: readonly string[] = filtered(NO_LANDLOCK);

/**
 * The limit of user namespaces is 0, that of a user namespace of our own: nothing else on the machine notices. Whoever
 * is in it has no rights.
 */
export const withNamespacesUsedUp: readonly string[] = [
  ...[
    "unshare",
    "--user",
    "--map-root-user",
    "sh",
    "-c",
    'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"',
    "sh",
  ],
  ...["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--"],
];

/** Files of a path are no programs any more, in a mount namespace of our own. */
function covered(paths: readonly string[]): string[] {
  const script = 'while [ "$1" != -- ]; do mount --bind /dev/null "$1" || exit; shift; done; shift; exec "$@"';
  const user = Deno.uid() === 0 ? [] : ["--user", "--map-root-user"];
  return ["unshare", ...user, "--mount", "--propagation", "private", "sh", "-c", script, "sh", ...paths, "--"];
}

/** @param program Its name. */
export async function withoutProgram(program: string): Promise<readonly string[]> {
  const { stdout } = await new Deno.Command("which", { args: ["-a", program], stderr: "null" }).output();
  const found = new TextDecoder().decode(stdout).trim().split("\n").filter((path) => path !== "");
  // One file may have two names.
  return covered([...new Set(found.map((path) => Deno.realPathSync(path)))]);
}
