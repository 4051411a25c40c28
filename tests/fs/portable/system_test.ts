import { portableFiles } from "../../../lib/fs/portable/system.ts";
import { silentLog } from "../../../lib/log.ts";
import { FILE_CASES } from "../cases/mod.ts";
import { Scratch } from "../scratch.ts";

for (const { name, ignore = false, run } of FILE_CASES) {
  Deno.test({ name: `portable files: ${name}`, ignore }, async () => {
    using scratch = new Scratch();
    using files = portableFiles({ log: silentLog });
    await run({ files, scratch });
  });
}
