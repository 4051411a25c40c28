/** Holds mount points until it is killed. Arguments: the record's directory and paths of directories. */

import { silentLog } from "../../lib/log.ts";
import { MountPoints } from "../../lib/sandbox/mount_points.ts";

const [directory, ...paths] = Deno.args;
const points = new MountPoints({ directory: directory!, log: silentLog });
await points.hold(paths.map((path) => ({ path, kind: "directory" })));
console.log("held");
setInterval(() => {}, 60_000);
