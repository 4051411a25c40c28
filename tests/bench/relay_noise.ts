/** What a handshake costs each end of ours in computing, without network and registry. */
import { loadPrimitives } from "../../lib/relay/noise/load_primitives.ts";
import { Initiator, Responder } from "../../lib/relay/noise/noise.ts";
import { StaticKeys } from "../../lib/relay/noise/static_keys.ts";
import type { Plan } from "./plan.ts";

/** Handshakes before the first that counts: the code is compiled by then. */
const WARM_UP = 20;

export async function measureNoise(plan: Plan): Promise<void> {
  if (!plan.wants("relay-noise-harness") && !plan.wants("relay-noise-executor")) return;
  plan.progress("relay, handshakes");
  const primitives = await loadPrimitives();
  using harness = await StaticKeys.generate(primitives);
  using executor = await StaticKeys.generate(primitives);
  const context = { environmentId: "bench", registrationId: "registration", streamId: crypto.randomUUID() };
  for (let sample = -WARM_UP; sample < plan.turns * plan.samplesPerTurn; sample++) {
    const began = performance.now();
    const authorization = "authorization".repeat(5);
    const theirs = { primitives, own: harness, executor: executor.public, context, authorization };
    using initiator = await Initiator.begin(theirs);
    const asked = performance.now();
    using responder = await Responder.read({ primitives, own: executor, context, message1: initiator.message1 });
    const { message2, keys } = await responder.answer(new Uint8Array(0));
    const answered = performance.now();
    const finished = await initiator.finish(message2);
    const ended = performance.now();
    for (const each of [keys, finished.keys]) each[Symbol.dispose]();
    if (sample < 0) continue;
    plan.samples.add("relay-noise-harness", "relay", "ours", asked - began + ended - answered);
    plan.samples.add("relay-noise-executor", "relay", "ours", answered - asked);
  }
}
