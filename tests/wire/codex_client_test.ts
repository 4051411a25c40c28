import { isFromCodexClient } from "./play.ts";
import { testRecordings } from "./recorded.ts";

testRecordings(({ meta }) => isFromCodexClient(meta));
