import { announcedSeed, Random } from "../program/random.ts";
import { surviveDisconnections } from "../program/resume.ts";
import { RunningServer } from "../program/running_server.ts";
import { CpuLoad } from "./cpu_load.ts";

const ignore = Deno.build.os !== "linux";

Deno.test({
  name: "two hundred disconnections while programs write lose, repeat and reorder nothing",
  ignore,
  async fn() {
    const random = new Random(announcedSeed("disconnections"));
    await using server = await RunningServer.start();
    await surviveDisconnections(server, 200, random);
  },
});

Deno.test({
  name: "two hundred disconnections lose nothing while the processors are busy",
  ignore,
  async fn() {
    const random = new Random(announcedSeed("disconnections under load"));
    await using server = await RunningServer.start();
    await using _load = new CpuLoad();
    await surviveDisconnections(server, 200, random);
  },
});

Deno.test({
  name: "four sessions of one server survive fifty disconnections each at the same time",
  ignore,
  async fn() {
    const seed = announcedSeed("disconnections of four sessions");
    await using server = await RunningServer.start();
    const sessions = [0, 1, 2, 3].map((offset) => surviveDisconnections(server, 50, new Random(seed + offset)));
    const failed = (await Promise.allSettled(sessions)).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  },
});
