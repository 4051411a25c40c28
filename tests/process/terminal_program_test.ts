import { readCases } from "../support/cases.ts";
import { type ProgramCase, testPrograms } from "../support/program_cases.ts";

const CASES = readCases<ProgramCase>("program_cases.jsonl", import.meta.url);

testPrograms("programs on a terminal are found and refused as by the reference", CASES.filter(({ tty }) => tty));

/** The reference says that these programs started, prints an abort message of its own and "exits" 1. */
testPrograms("what a terminal cannot execute after all is refused with the reason", [
  {
    name: "a script without #! on PATH",
    tty: true,
    argv: ["raw"],
    env: { PATH: "<dir>/bin:/bin" },
    error: "spawnFailed",
    message: "Exec format error (os error 8)",
  },
  {
    name: "a script without its interpreter on PATH",
    tty: true,
    argv: ["badint"],
    env: { PATH: "<dir>/bin:/bin" },
    error: "spawnNotFound",
    message: "No such file or directory (os error 2)",
  },
  {
    name: "a huge argument",
    tty: true,
    argv: ["/bin/true", "<140000 x>"],
    env: {},
    error: "spawnFailed",
    message: "Argument list too long (os error 7)",
  },
]);
