import { runFastPrograms } from "../program/fast_programs.ts";
import { announcedSeed } from "../program/random.ts";
import { CpuLoad } from "./cpu_load.ts";

const ignore = Deno.build.os !== "linux";

Deno.test({
  name: "ten thousand fast programs on pipes and terminals lose no byte and leave nothing behind",
  ignore,
  fn: () => runFastPrograms(10_000, announcedSeed("fast programs")),
});

Deno.test({
  name: "ten thousand fast programs lose nothing while the processors are busy",
  ignore,
  async fn() {
    await using _load = new CpuLoad();
    await runFastPrograms(10_000, announcedSeed("fast programs under load"));
  },
});
