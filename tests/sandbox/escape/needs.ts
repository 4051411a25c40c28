/** What a machine lets a user do where nothing confines: established by other means than the attempts that need it. */
import { isRoot, SELF, type User } from "../support/user.ts";
import type { Need } from "./attempt.ts";

/** What of all that attempts may need is not to be had here. */
export async function missingNeeds(user: User): Promise<Set<Need>> {
  const missing = new Set<Need>();
  // A user who is root only in a namespace of his own is none.
  if (user.uid !== 0) missing.add("root");
  if (!isRoot) missing.add("otherGroup");
  // It may lie in a home that is closed to others.
  if (user !== SELF) missing.add("ownProgram");
  if (Deno.build.arch !== "x86_64") missing.add("x86_64");
  // A call of getpid by its x32 number.
  const x32 = await new Deno.Command("perl", { args: ["-e", "exit(syscall(0x40000000 | 39) == -1)"] }).output();
  if (!x32.success || Deno.build.arch !== "x86_64") missing.add("x32");
  // The number of one's own session of keys: -1 where there are none, or may not be used.
  const keys = Deno.build.arch === "aarch64" ? 219 : 250;
  const session = await new Deno.Command("perl", { args: ["-e", `exit(syscall(${keys}, 1, 0) == -1)`] }).output();
  if (!session.success) missing.add("keys");
  const pattern = (await Deno.readTextFile("/proc/sys/kernel/core_pattern")).trim();
  const limit = /^Max core file size +\S+ +(\S+)/m.exec(await Deno.readTextFile("/proc/self/limits"))?.[1];
  if (pattern === "" || /^[|/]/.test(pattern) || (limit === "0" && user.uid !== 0)) missing.add("coreDumps");
  return missing;
}
