import { isAboutFiles } from "./play.ts";
import { testRecordings } from "./recorded.ts";

testRecordings(({ meta }) => isAboutFiles(meta));
