import assert from "node:assert/strict";
import type { FsScenario } from "./random_scenario.ts";
import { shorten } from "./shorten.ts";

const scenario: FsScenario = {
  tree: ["a", "b", "c", "d", "e"].map((path) => ({ path, kind: "fifo" })),
  steps: Array.from({ length: 50 }, (_, i) => ({ send: String(i) })),
};

Deno.test("shorten keeps just what a failure needs, in its order", async () => {
  const fails = ({ tree, steps }: FsScenario) => {
    const sent = steps.map((step) => "send" in step ? step.send : "");
    return Promise.resolve(
      sent.includes("7") && sent.includes("31") && sent.indexOf("7") < sent.indexOf("31") &&
        tree.some(({ path }) => path === "d"),
    );
  };
  assert.deepEqual(await shorten(scenario, fails, Infinity), {
    tree: [{ path: "d", kind: "fifo" }],
    steps: [{ send: "7" }, { send: "31" }],
  });
});

Deno.test("shorten gives up in time and never invents a failure", async () => {
  assert.deepEqual(await shorten(scenario, () => Promise.resolve(true), -Infinity), scenario);
  assert.deepEqual(await shorten(scenario, () => Promise.resolve(false), Infinity), scenario);
});
