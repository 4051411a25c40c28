import type { Log } from "../log.ts";
import type { FileOperations } from "./operations.ts";

/** How files are worked on on this system: through libc on Linux, portably elsewhere. Only what is used is loaded. */
export async function systemFiles(options: { readonly log: Log }): Promise<FileOperations & Disposable> {
  if (Deno.build.os === "linux") {
    const { linuxFiles } = await import("./linux/system.ts");
    return linuxFiles(options);
  }
  const { portableFiles } = await import("./portable/system.ts");
  return portableFiles(options);
}
