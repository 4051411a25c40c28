import { isAboutFiles, isFromCodexClient } from "./play.ts";
import { testRecordings } from "./recorded.ts";

testRecordings(({ meta }) => meta.transport === "stdio" && !isFromCodexClient(meta) && !isAboutFiles(meta));
