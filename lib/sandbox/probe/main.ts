/** The hidden program of the self-test: tries what it is told to, and prints how each attempt went as a list of JSON. */

import { NOT_BY_HAND } from "../launcher/failure.ts";
import { attemptsOf } from "./attempt.ts";
import { probe } from "./probe.ts";

const NOT_TRIED = 126;

const attempts = attemptsOf(Deno.args.at(-1));
if (attempts === undefined) {
  console.error(`sandbox: ${NOT_BY_HAND}`);
  Deno.exitCode = NOT_TRIED;
} else console.log(JSON.stringify(probe(attempts)));
