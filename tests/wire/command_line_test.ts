import { testRecordings } from "./recorded.ts";

testRecordings(({ meta }) => meta.transport === "cli");
