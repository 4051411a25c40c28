/** Fetches the reference, so that the tests that also try it do not skip. */

import { referenceCommand } from "../tests/bench/reference.ts";

console.log(`the reference: ${(await referenceCommand()).join(" ")}`);
