import { OUR_RULES } from "./differences.ts";
import { play } from "./play.ts";
import { whyNotPlayed } from "./requirements.ts";
import { ownProgram } from "./target.ts";
import type { Transcript } from "./lines.ts";
import { readTranscripts } from "./transcript.ts";

/** One test for each recording that `chosen` accepts, played against our program. */
export function testRecordings(chosen: (transcript: Transcript) => boolean): void {
  for (const transcript of readTranscripts().filter(chosen)) {
    const { scenario, note } = transcript.meta;
    const reason = whyNotPlayed(transcript, ownProgram());
    Deno.test({
      name: `our program plays ${scenario} as recorded${note ? `: ${note}` : ""}${
        reason ? ` (skipped: ${reason})` : ""
      }`,
      ignore: reason !== null,
      fn: async () => {
        await play(transcript, ownProgram(), OUR_RULES);
      },
    });
  }
}
