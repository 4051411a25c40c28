import { isFromCodexClient, makesHttpRequests } from "./play.ts";
import { testRecordings } from "./recorded.ts";

testRecordings((transcript) => makesHttpRequests(transcript) && !isFromCodexClient(transcript.meta));
