import type { Confinement } from "../../../sandbox/launcher/launch_plan.ts";

/**
 * What the one thread that works sees and may do. Every method takes effect at once, within the call; what fails throws,
 * and then nobody knows what holds: the process has to end.
 */
export interface View {
  /** @throws {LaunchFailure} At the first step that fails. */
  enter(confinement: Confinement): void;
  /** Nothing is to be seen until the next view is entered. */
  leave(): void;
  /**
   * Refuses to look at what the kernel does not keep from being looked at.
   *
   * @param path What is found there, after links if those are followed.
   * @throws {OsError}
   */
  checkLook(path: Uint8Array<ArrayBuffer>, followSymlinks: boolean): void;
}
