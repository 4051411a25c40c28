/** These wait for what the server does after 30 or 80 seconds: one test, all at once. */
import { OUR_RULES } from "./differences.ts";
import { isSlow, play } from "./play.ts";
import { ownProgram } from "./target.ts";
import { readTranscripts } from "./transcript.ts";

Deno.test("our program plays the slow recordings as recorded, all at once", async () => {
  const slow = readTranscripts().filter(({ meta }) => isSlow(meta));
  const outcomes = await Promise.allSettled(slow.map((transcript) => play(transcript, ownProgram(), OUR_RULES)));
  const failures = outcomes.flatMap((outcome, i) =>
    outcome.status === "fulfilled" ? [] : [new Error(slow[i]!.meta.scenario, { cause: outcome.reason })]
  );
  if (failures.length > 0) throw new AggregateError(failures, failures.map(({ message }) => message).join(", "));
});
