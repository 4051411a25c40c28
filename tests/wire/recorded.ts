import { OUR_RULES } from "./differences.ts";
import { play } from "./play.ts";
import { ownProgram } from "./target.ts";
import { readTranscripts, type Transcript } from "./transcript.ts";

/** One test for each recording that `chosen` accepts, played against our program. */
export function testRecordings(chosen: (transcript: Transcript) => boolean): void {
  for (const transcript of readTranscripts().filter(chosen)) {
    const { scenario, note } = transcript.meta;
    Deno.test(`our program plays ${scenario} as recorded${note ? `: ${note}` : ""}`, async () => {
      await play(transcript, ownProgram(), OUR_RULES);
    });
  }
}
