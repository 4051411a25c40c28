/**
 * The proof that the suite can fail: all attempts with nothing that confines them, in mount, process, network, IPC and
 * host name namespaces of their own that end with this program. Prints the outcomes as JSON.
 *
 * Words: the links of the namespaces outside, as `ls /proc/self/ns` has them, by blanks; then the user.
 */
import { OUR_COMMAND } from "../../program/running_server.ts";
import { ORDINARY, SELF } from "../support/user.ts";
import { ATTEMPTS } from "./attempts.ts";
import { tell } from "./report.ts";
import { runSuite, unconfined } from "./scene.ts";

/** Where attempts without a sandbox must not be made in. */
export const NAMESPACES = ["mnt", "pid", "net", "ipc", "uts"];

export function namespaces(): string[] {
  return NAMESPACES.map((name) => Deno.readLinkSync(`/proc/self/ns/${name}`));
}

if (import.meta.main) {
  const [outside = "", user] = Deno.args;
  const shared = namespaces().filter((link) => outside.split(" ").includes(link));
  if (outside.split(" ").length !== NAMESPACES.length || shared.length > 0) {
    throw new Error(`nothing is tried in the namespaces of others: ${shared.join()}`);
  }
  const options = { together: 1, inMemory: true };
  const outcomes = await runSuite(OUR_COMMAND, user === "ordinary" ? ORDINARY : SELF, unconfined(ATTEMPTS), options);
  console.log(tell(outcomes));
  Deno.exit(0);
}
