import { isAboutFiles, isFromCodexClient, isSlow, makesHttpRequests } from "./play.ts";
import { testRecordings } from "./recorded.ts";

testRecordings((transcript) => {
  const { meta } = transcript;
  const elsewhere = isSlow(meta) || isFromCodexClient(meta) || isAboutFiles(meta) || makesHttpRequests(transcript);
  return meta.transport === "ws" && !elsewhere;
});
