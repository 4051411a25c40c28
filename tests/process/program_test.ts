import { readCases } from "../support/cases.ts";
import { type ProgramCase, testPrograms } from "../support/program_cases.ts";

const CASES = readCases<ProgramCase>("program_cases.jsonl", import.meta.url);

testPrograms("programs on pipes are found and refused as by the reference", CASES.filter(({ tty }) => !tty));
