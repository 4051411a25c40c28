import { isFromCodexClient, isSlow } from "./play.ts";
import { testRecordings } from "./recorded.ts";

testRecordings(({ meta }) => meta.transport === "ws" && !isSlow(meta) && !isFromCodexClient(meta));
