import { cString } from "../../../linux/cstring.ts";
import { EACCES } from "../../../linux/errno.ts";
import * as files from "../../../linux/file_calls.ts";
import { close, O_CLOEXEC } from "../../../linux/libc.ts";
import * as calls from "../../../linux/sandbox_calls.ts";
import { fromBytes, isAtOrBelow } from "../../../sandbox/byte_path.ts";
import type { Confinement, LandlockRule } from "../../../sandbox/launcher/launch_plan.ts";
import { LaunchFailure, must } from "../../../sandbox/launcher/failure.ts";
import { buildRuleset } from "../../../sandbox/launcher/landlock_domain.ts";
import { dropPrivileges } from "../../../sandbox/launcher/privileges.ts";
import { checked, OsError } from "../../os_error.ts";
import type { View } from "./view.ts";

type Path = Uint8Array<ArrayBuffer>;

const PROCESSES = "/proc";

/**
 * The rules of Landlock, for this thread and for good: there is no way back, so the process has one plan all its life.
 *
 * Landlock lets everybody look at what may not be read: whether it is there, how large and how old it is. Where that is
 * all that is asked for it is refused here.
 */
export class LandlockView implements View {
  #entered: string | undefined;
  #readable: readonly LandlockRule[] = [];

  enter(confinement: Confinement): void {
    if (confinement.kind !== "landlock") throw new LaunchFailure("one helper has one kind of confinement");
    const text = JSON.stringify(confinement);
    if (text === this.#entered) return;
    if (this.#entered !== undefined) throw new LaunchFailure("under Landlock a helper has one plan");
    const rules = withoutProcesses(confinement.rules);
    const ruleset = buildRuleset(rules, confinement.network);
    dropPrivileges();
    must("landlock_restrict_self", calls.restrictSelf(ruleset));
    calls.close(ruleset);
    this.#entered = text;
    this.#readable = rules;
  }

  leave(): void {}

  checkLook(path: Path, followSymlinks: boolean): void {
    const flags = files.O_PATH | O_CLOEXEC | (followSymlinks ? 0 : files.O_NOFOLLOW);
    const found = checked(files.openAt(files.AT_FDCWD, cString(path), flags));
    const target = new Uint8Array(new ArrayBuffer(files.PATH_MAX));
    const length = files.readLinkAt(files.AT_FDCWD, cString(`/proc/self/fd/${found}`), target);
    close(found);
    const real = fromBytes(target.subarray(0, checked(length)));
    if (!this.#readable.some((rule) => isAtOrBelow(real, rule.path))) throw new OsError(EACCES);
  }
}

/** The memory of this very process is among its files, which is outside of all rules. */
function withoutProcesses(rules: readonly LandlockRule[]): LandlockRule[] {
  if (rules.some(({ path, access }) => path === "/" && access !== "read")) {
    throw new LaunchFailure("Landlock does not keep the helper from its own process where everything may be written");
  }
  return rules.filter(({ path }) => !isAtOrBelow(path, PROCESSES));
}
