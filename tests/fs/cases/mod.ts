/** What operations on files do, for every back end; what is expected is the reference's, except where it is said. */

import { BLOCKS } from "./blocks.ts";
import { COPYING } from "./copying.ts";
import { DIRECTORIES } from "./directories.ts";
import { READING } from "./reading.ts";
import { REMOVING } from "./removing.ts";
import { WALKING } from "./walking.ts";
import { WRITING } from "./writing.ts";
import type { FileCase } from "./case.ts";

/** All of them; each has a directory of its own. */
export const FILE_CASES: readonly FileCase[] = [
  ...READING,
  ...BLOCKS,
  ...WRITING,
  ...DIRECTORIES,
  ...WALKING,
  ...REMOVING,
  ...COPYING,
];
