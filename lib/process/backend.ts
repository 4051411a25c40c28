import type { Log } from "../log.ts";
import type { ProcessBackend } from "./child.ts";

/** How programs are launched on this system: through libc on Linux, portably elsewhere. Only what is used is loaded. */
export async function systemBackend(log: Log): Promise<ProcessBackend & Disposable> {
  if (Deno.build.os === "linux") {
    const { linuxBackend } = await import("./linux/spawn.ts");
    return linuxBackend({ log });
  }
  const { portableBackend } = await import("./portable/spawn.ts");
  return portableBackend({ log });
}
