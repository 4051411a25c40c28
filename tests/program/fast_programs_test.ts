import { runFastPrograms } from "./fast_programs.ts";
import { announcedSeed } from "./random.ts";

Deno.test({
  name: "a thousand fast programs on pipes and terminals lose no byte and leave nothing behind",
  ignore: Deno.build.os !== "linux",
  fn: () => runFastPrograms(1_000, announcedSeed("fast programs")),
});
