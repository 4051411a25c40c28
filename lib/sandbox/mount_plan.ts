/**
 * What a plan is in mounts: a view of the file system in which the kernel itself answers as the plan says. Bubblewrap and
 * our own mounts build the same list, in order; later mounts lie on top of earlier ones.
 */

import { isAtOrBelow, parent } from "./byte_path.ts";
import type { AccessPlan, AccessRule, BytePath } from "./policy.ts";
import { PROTECTED_NAMES } from "./protected_names.ts";
import { isFreshDevice, isOfAProcess, isSharedMemory } from "./special_trees.ts";

/** One step; a path is the same outside and inside. */
export type Mount =
  /** The first step where not everything may be read: an empty directory in memory, of mode 755. */
  | { readonly kind: "emptyRoot"; readonly path: "/" }
  /** The machine's own file or directory with all that is mounted below it; devices in it cannot be opened. */
  | { readonly kind: "bind" | "readOnlyBind"; readonly path: BytePath }
  /** The same for a device, or a directory of such, to be used. */
  | { readonly kind: "deviceBind"; readonly path: BytePath }
  /** A symbolic link in the empty root. */
  | { readonly kind: "link"; readonly path: BytePath; readonly target: string }
  /** A fresh /dev with what every program expects, and an own /dev/shm. */
  | { readonly kind: "devices"; readonly path: "/dev" }
  /** A fresh /proc, which knows the processes of the sandbox. */
  | { readonly kind: "processes"; readonly path: "/proc" }
  | Cover
  /** Makes what one of these steps put there read-only; what lies on it stays as it is. */
  | { readonly kind: "freeze"; readonly path: BytePath };

/** Something empty that covers what is there, or holds the place of what is not. */
export interface Cover {
  readonly kind: "emptyDirectory" | "emptyFile";
  readonly path: BytePath;
  readonly mode: number;
  /** Nothing is there to mount upon: somebody has to make an empty directory or file on the machine first. */
  readonly isMissing: boolean;
}

export interface ViewOptions {
  /** What nobody may see, whatever the plan says: the server's own files. Real paths of what exists. */
  readonly hidden?: readonly { readonly path: BytePath; readonly found: "directory" | "file" }[];
  /**
   * Whether what exists only inside, the empty root and /dev, may be written. Programs look for a place for their
   * temporary files; a file operation would report success for what nobody will ever see.
   */
  readonly scratch: "writable" | "readOnly";
}

/** The mode of a denied directory, and of one through which a way leads to what is granted below it. */
const CLOSED = 0o000;
const PASSAGE = 0o111;
/** Modes of what holds the place of a missing directory or file; like the reference's, so that writing gives EROFS. */
const PLACE_OF_DIRECTORY = 0o555;
const PLACE_OF_FILE = 0o600;

/**
 * The mounts of a plan.
 *
 * A directory in which something is narrowed, below a writable root, becomes a mount of its own: otherwise it could be
 * renamed and another one put in its place. Files are not renamed or linked across its border (EXDEV).
 *
 * @throws {Error} If there is nothing to mount: the plan is refused, or lets everything be written.
 */
export function mountPlan(plan: AccessPlan, options: ViewOptions): readonly Mount[] {
  if (plan.refusal !== undefined) throw new Error(`a refused plan has no view: ${plan.refusal}`);
  if (plan.fullWrite) throw new Error("a plan that lets everything be written needs no view");
  return new View(plan, options).mounts();
}

/** What has to be there before the mounts are made, and to be removed afterwards. */
export function missingMountPoints(mounts: readonly Mount[]): readonly Cover[] {
  return mounts.filter((mount): mount is Cover => "isMissing" in mount && mount.isMissing);
}

type Effect = AccessRule["access"] | "nothing";

/** A rule above the one that is looked at, with what it came to. */
interface Enclosing {
  readonly path: BytePath;
  readonly effect: Effect;
}

/** A rule, or something that is hidden from everybody. */
type Step = AccessRule & { readonly isHidden: boolean };

class View {
  readonly #plan: AccessPlan;
  readonly #options: ViewOptions;
  readonly #mounts: Mount[] = [];
  /** Covers of /proc, which come after it. */
  readonly #onProcesses: Mount[] = [];
  readonly #isEmptyAtFirst: boolean;
  /** From the outermost to the innermost. */
  readonly #enclosing: Enclosing[] = [];
  /** Paths with a mount of their own. */
  readonly #mounted = new Set<BytePath>();

  constructor(plan: AccessPlan, options: ViewOptions) {
    this.#plan = plan;
    this.#options = options;
    const root = plan.rules.find(({ path }) => path === "/")?.access;
    this.#isEmptyAtFirst = !plan.fullRead && root !== "read" && root !== "write";
    const effect = this.#isEmptyAtFirst ? "nothing" : root === "write" ? "write" : "read";
    this.#enclosing.push({ path: "/", effect });
  }

  mounts(): readonly Mount[] {
    const [{ effect }] = this.#enclosing as [Enclosing];
    if (effect === "nothing") this.#mounts.push({ kind: "emptyRoot", path: "/" }, ...this.#links());
    else this.#mounts.push({ kind: effect === "write" ? "bind" : "readOnlyBind", path: "/" });
    this.#mounts.push({ kind: "devices", path: "/dev" });
    for (const step of this.#steps()) this.#take(step);
    const frozen = [...this.#mounts, ...this.#onProcesses].filter(({ kind }) => kind === "emptyDirectory");
    const scratch = this.#isEmptyAtFirst ? ["/dev", "/"] : ["/dev"];
    return [
      ...this.#mounts,
      { kind: "processes", path: "/proc" },
      ...this.#onProcesses,
      ...frozen.map(({ path }): Mount => ({ kind: "freeze", path })),
      ...(this.#options.scratch === "writable" ? [] : scratch.map((path): Mount => ({ kind: "freeze", path }))),
    ];
  }

  /** Rules without the root's and what is hidden, what lies above first. */
  #steps(): Step[] {
    const hidden = this.#options.hidden ?? [];
    const isHidden = (path: BytePath) => hidden.some((one) => isAtOrBelow(path, one.path));
    const steps: Step[] = [
      ...this.#plan.rules.filter(({ path }) => path !== "/" && !isHidden(path))
        .map((rule) => ({ ...rule, isHidden: false })),
      ...hidden.map((one) => ({ ...one, access: "deny" as const, isProtection: false, isHidden: true })),
    ];
    return steps.sort((one, other) => treeOrder(one.path) < treeOrder(other.path) ? -1 : 1);
  }

  /** The links that grants are spelled with, where nothing mounted has them and nothing denied hides them. */
  #links(): Mount[] {
    const steps = this.#steps();
    const isOpen = ({ path }: { path: BytePath }) => !steps.some((step) => isAtOrBelow(path, step.path));
    return this.#plan.links.filter(isOpen).map(({ path, target }) => ({ kind: "link", path, target }));
  }

  #take(step: Step): void {
    const { path, access } = step;
    if (isAtOrBelow(path, "/proc")) return this.#takeBelowProcesses(step);
    while (!isAtOrBelow(path, this.#enclosing.at(-1)!.path)) this.#enclosing.pop();
    const around = this.#enclosing.at(-1)!;
    const isInDevices = isAtOrBelow(path, "/dev");
    // What the rules above say of /dev does not count below it: there is the fresh one, whatever they say.
    const above = isInDevices && !isAtOrBelow(around.path, "/dev") ? "nothing" : around.effect;
    // What may be read below what is denied stays out of sight.
    const effect = access === "read" && above === "deny" ? "deny" : access;
    if (access === "write" && step.found === "missing") return;
    if (access === "deny" && above !== "deny") this.#deny(step, above);
    else if (effect === "write") this.#allowWriting(step, above, isInDevices);
    else if (effect === "read") this.#allowReading(step, above, isInDevices);
    this.#enclosing.push({ path, effect: path === "/dev" && access !== "deny" ? "nothing" : effect });
  }

  #deny(step: Step, above: Effect): void {
    // Where nothing may be seen, a denied directory is seen to be denied; the server's own are no one's business.
    const isOutOfSight = above === "nothing" && (step.isHidden || isAtOrBelow(step.path, "/dev"));
    if (isOutOfSight && !isFreshDevice(step.path)) return;
    if (step.found !== "missing") {
      this.#pinParents(step.path, above);
      this.#mount(coverOf(step, CLOSED));
    } else this.#holdPlace(step, above);
  }

  #allowWriting({ path, found }: Step, above: Effect, isInDevices: boolean): void {
    if (path === "/dev") return;
    // A file as a mount of its own could not be replaced by a rename, as many programs save.
    if (above === "write" && found === "file") return;
    this.#pinParents(path, above);
    this.#openPassages(path);
    this.#mount({ kind: isInDevices && !isSharedMemory(path) ? "deviceBind" : "bind", path });
  }

  #allowReading(step: Step, above: Effect, isInDevices: boolean): void {
    const { path } = step;
    if (above === "read" || (isInDevices && !isSharedMemory(path))) return;
    if (step.found === "missing") return this.#holdPlace(step, above);
    this.#pinParents(path, above);
    this.#mount({ kind: "readOnlyBind", path });
  }

  /** Keeps what is missing from being made, where it could be. */
  #holdPlace(step: Step, above: Effect): void {
    if (above !== "write") return;
    this.#pinParents(step.path, above);
    this.#mount(coverOf(step, holdsDirectory(step) ? PLACE_OF_DIRECTORY : PLACE_OF_FILE));
  }

  /** The fresh /proc stays whatever a rule allows; of the machine's nothing may be seen. */
  #takeBelowProcesses(step: Step): void {
    if (step.access !== "deny" || step.found === "missing" || isOfAProcess(step.path)) return;
    this.#onProcesses.push(coverOf(step, CLOSED));
  }

  #mount(mount: Mount): void {
    this.#mounts.push(mount);
    this.#mounted.add(mount.path);
  }

  /** Makes the directories between a writable root and something in it mounts, which cannot be renamed. */
  #pinParents(path: BytePath, above: Effect): void {
    if (above !== "write") return;
    const root = this.#enclosing.at(-1)!.path;
    const between: BytePath[] = [];
    for (let at = parent(path); at !== root && at !== "/"; at = parent(at)) between.unshift(at);
    for (const at of between) if (!this.#mounted.has(at)) this.#mount({ kind: "bind", path: at });
  }

  /** Lets what is granted be reached through the denied directories above it. */
  #openPassages(path: BytePath): void {
    this.#mounts.forEach((mount, index) => {
      if (mount.kind !== "emptyDirectory" || mount.mode !== CLOSED || !isAtOrBelow(path, mount.path)) return;
      this.#mounts[index] = { ...mount, mode: PASSAGE };
    });
  }
}

function coverOf(step: Step, mode: number): Cover {
  const { path, found } = step;
  const isDirectory = found === "missing" ? holdsDirectory(step) : found === "directory";
  return { kind: isDirectory ? "emptyDirectory" : "emptyFile", path, mode, isMissing: found === "missing" };
}

/** A protected name is that of a directory, also where an entry asks for it in so many words. */
function holdsDirectory({ path, isProtection }: Step): boolean {
  return isProtection || PROTECTED_NAMES.some((name) => path.endsWith(`/${name}`));
}

/** What lies below something comes directly after it: a NUL, which no path has, sorts before all other bytes. */
function treeOrder(path: BytePath): string {
  return path.replaceAll("/", "\0");
}
