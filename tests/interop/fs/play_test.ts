import assert from "node:assert/strict";
import { ownProgram } from "../../wire/target.ts";
import { lacksConfinement } from "./lacks_confinement.ts";
import { playFiles, type PlayOptions } from "./play.ts";

const ignore = await lacksConfinement();

/** The same conversations each time; needs no reference. */
const OURSELVES: PlayOptions = {
  reference: null,
  words: null,
  transport: "ws",
  runs: 12,
  seed: 1,
  path: null,
  strict: true,
  quiet: true,
};

Deno.test({ name: "random requests for files find no difference between our program and itself", ignore }, async () => {
  assert.equal(await playFiles(OURSELVES), true);
});

Deno.test({ name: "random requests for files find that what a program makes has another mode", ignore }, async () => {
  const words = ["/bin/sh", "-c", 'umask 077; exec "$@"', "sh", ...ownProgram().words];
  assert.equal(await playFiles({ ...OURSELVES, words }), false);
});
