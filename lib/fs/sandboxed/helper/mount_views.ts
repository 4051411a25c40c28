import { ENOENT } from "../../../linux/errno.ts";
import { AT_FDCWD, openAtInBackground, otherBusiness } from "../../../linux/file_calls.ts";
import { enterMountNamespace, openForReading, unshareMounts, useCapabilities } from "../../../linux/namespace_calls.ts";
import * as calls from "../../../linux/sandbox_calls.ts";
import { isAtOrBelow } from "../../../sandbox/byte_path.ts";
import type { Confinement } from "../../../sandbox/launcher/launch_plan.ts";
import { LaunchFailure, must } from "../../../sandbox/launcher/failure.ts";
import { enterView } from "../../../sandbox/launcher/mount_view.ts";
import type { Mount } from "../../../sandbox/mount_plan.ts";
import { MachineView } from "./machine_view.ts";
import type { View } from "./view.ts";

const NAMESPACE = "/proc/thread-self/ns/mnt";

/** A directory that is empty and stays so. */
const NOTHING: readonly Mount[] = [{ kind: "emptyRoot", path: "/" }, { kind: "freeze", path: "/" }];

/**
 * Views of mounts, one after the other, each made anew from the machine as it is then.
 *
 * There are three kinds of mount namespaces. The one that the process began in, where its other threads stay for good and
 * this thread is between two views, becomes empty: whatever is done at the wrong time or on the wrong thread finds
 * nothing. One shows the machine; it is entered only to be copied. A view is such a copy, for one request, and is gone
 * with it. Capabilities count only while this thread goes from one to another.
 */
export class MountViews implements View {
  readonly #nothing: number;
  readonly #machineNamespace: number;
  readonly #machine: MachineView;

  private constructor(nothing: number, machineNamespace: number, machine: MachineView) {
    this.#nothing = nothing;
    this.#machineNamespace = machineNamespace;
    this.#machine = machine;
  }

  /**
   * Has to be called in namespaces of our own, with all rights in them.
   *
   * @throws {LaunchFailure} If something of it is missing here.
   */
  static async prepare(): Promise<MountViews> {
    await otherBusiness(); // so that there is a thread already that can be asked in the end
    const nothing = must(`open ${NAMESPACE}`, openForReading(NAMESPACE));
    must("capset", useCapabilities(true));
    must("unshare", unshareMounts());
    // What is mounted in the view of the machine is nothing that the others should see.
    must("mount_setattr / slave", calls.makeMountsSlaves(calls.cBytes("/")));
    const machineNamespace = must(`open ${NAMESPACE}`, openForReading(NAMESPACE));
    const machine = new MachineView();
    must("setns", enterMountNamespace(nothing));
    enterView(NOTHING);
    must("capset", useCapabilities(false));
    await checkOtherThreads();
    return new MountViews(nothing, machineNamespace, machine);
  }

  enter(confinement: Confinement): void {
    if (confinement.kind !== "mounts") throw new LaunchFailure("one helper has one kind of confinement");
    must("capset", useCapabilities(true));
    this.#copyMachine();
    const mounts = withoutProcesses(confinement.mounts);
    const mask = calls.setFileModeMask(0);
    enterView(mounts);
    calls.setFileModeMask(mask);
    must("capset", useCapabilities(false));
  }

  leave(): void {
    must("capset", useCapabilities(true));
    must("setns", enterMountNamespace(this.#nothing));
    must("capset", useCapabilities(false));
  }

  /** The kernel shows nothing that is not to be seen. */
  checkLook(): void {}

  #copyMachine(): void {
    for (;;) {
      must("setns", enterMountNamespace(this.#machineNamespace));
      must("unshare", unshareMounts());
      if (!this.#machine.hasChanged) return;
      must("setns", enterMountNamespace(this.#machineNamespace));
      this.#machine.refresh();
    }
  }
}

/** The machine's /proc shows no processes, see {@linkcode MachineView}; and a fresh one would show this one. */
function withoutProcesses(mounts: readonly Mount[]): Mount[] {
  const isWhole = mounts[0]?.kind !== "emptyRoot";
  return mounts.flatMap((mount): Mount[] => {
    if (mount.kind === "processes") return isWhole ? [] : [{ kind: "readOnlyBind", path: mount.path }];
    const isCover = mount.kind === "emptyDirectory" || mount.kind === "emptyFile" || mount.kind === "freeze";
    return isCover && mount.path !== "/proc" && isAtOrBelow(mount.path, "/proc") && isMissing(mount.path)
      ? []
      : [mount];
  });
}

function isMissing(path: string): boolean {
  const found = calls.openWithoutLinks(calls.AT_FDCWD, calls.cBytes(path), calls.O_PATH);
  if (found === -ENOENT) return true;
  calls.close(must(`openat2 ${path}`, found));
  return false;
}

/** Really tries what another thread gets to see, as long as there still is one to ask. */
async function checkOtherThreads(): Promise<void> {
  for (const path of ["/proc", "/dev", "/etc"]) {
    const found = await openAtInBackground(AT_FDCWD, calls.cBytes(path), calls.O_PATH);
    if (found !== -ENOENT) throw new LaunchFailure(`another thread sees ${path}`);
  }
}
