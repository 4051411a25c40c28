import assert from "node:assert/strict";
import { Bindings } from "./bindings.ts";
import { adapt, OUR_RULES, REFERENCE_RULES } from "./differences.ts";
import { difference } from "./match.ts";
import { PAUSES, RACES } from "./races.ts";
import { readTranscripts } from "./transcript.ts";
import { Workspace } from "./workspace.ts";

Deno.test("every race and pause names a recording that exists and has what it speaks of", () => {
  const recordings = new Map(readTranscripts().map(({ meta, lines }) => [meta.scenario, JSON.stringify(lines)]));
  for (const { scenario, id } of RACES) assert.match(recordings.get(scenario) ?? "", new RegExp(`id\\\\?":${id}\\b`));
  for (const { scenario, after } of PAUSES) assert.ok(recordings.get(scenario)?.includes(after), scenario);
});

Deno.test("under the reference's rules no recording is changed, under ours those that differ on purpose", () => {
  const transcripts = readTranscripts();
  for (const transcript of transcripts) assert.deepEqual(adapt(transcript, REFERENCE_RULES), transcript);
  const changed = transcripts.filter((one) => JSON.stringify(adapt(one, OUR_RULES)) !== JSON.stringify(one));
  const names = changed.map(({ meta }) => meta.scenario);
  assert.deepEqual(names, [
    "cli-errors",
    "stdio-unknown-notification",
    "write-id-required",
    "fs-copy-file-onto-itself",
    "fs-process-sandbox-isolation",
    "fs-process-sandbox-network",
    "fs-process-sandbox-start-errors",
    "fs-sandbox-glob-deny",
    "fs-sandbox-legacy-landlock",
    "fs-sandbox-protected-metadata",
    "fs-sandbox-restricted-read",
    "fs-sandbox-unavailable",
    "fs-write-file-special",
  ]);
});

Deno.test("a value differs by any member too many, too few or changed", async () => {
  await using workspace = await Workspace.create();
  const context = { bindings: new Bindings(workspace), rules: OUR_RULES, surroundingsKnown: true };
  const expected = { id: 1, result: { chunks: [], exitCode: null } };
  assert.equal(difference(expected, { result: { exitCode: null, chunks: [] }, id: 1 }, context), null);
  assert.match(difference(expected, { id: 1, result: { chunks: [] } }, context)!, /no member exitCode/);
  assert.match(difference(expected, { ...expected, jsonrpc: "2.0" }, context)!, /unexpected member/);
  assert.match(difference(expected, { id: "1", result: expected.result }, context)!, /message\.id/);
  assert.match(difference(expected, { id: 1, result: { chunks: [0], exitCode: null } }, context)!, /chunks/);
});
