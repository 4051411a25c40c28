import assert from "node:assert/strict";
import { toTranscript } from "./filesystem_recording.ts";
import { readTranscripts } from "./transcript.ts";

const START = { dir: "setup", msg: { op: "startServer", transport: "stdio", args: [], umask: "022" } };

Deno.test("how the server is started is taken from the setup", () => {
  const user = { dir: "setup", msg: { op: "runServerAs", uid: 7, gid: 8 } };
  const { meta, lines } = toTranscript("x", [user, START]);
  const launch = { umask: "022", user: { uid: 7, gid: 8 } };
  assert.deepEqual(meta, { scenario: "fs-x", transport: "stdio", args: ["--listen", "stdio"], launch });
  assert.deepEqual(lines, []);
  assert.throws(() => toTranscript("x", [user]), /no server/);
});

Deno.test("what a remark says is done, and an unknown one is an error", () => {
  const note = (text: string) => ({ dir: "setup", msg: { op: "note", text } });
  const opened = note("the client first opens handles h0..h127 on <root>/a.txt, all accepted (not recorded)");
  assert.equal(toTranscript("x", [START, opened]).lines.length, 2 * 128);
  assert.throws(() => toTranscript("x", [START, note("something else")]), /not known/);
});

Deno.test("chunks that were left out have the size that the answers tell of", () => {
  const { lines } = readTranscripts().find(({ meta }) => meta.scenario === "fs-block-write-too-long")!;
  const sizes = lines.flatMap((line) => {
    if (line.dir !== "send" || line.generated === undefined) return [];
    const { prefix, fill, totalBytes, suffix } = line.generated;
    const message = prefix + fill!.repeat(totalBytes! - prefix.length - suffix.length) + suffix;
    const { chunk } = (JSON.parse(message) as { params: { chunk: string } }).params;
    assert.equal(chunk.length, 1_398_104);
    return [Uint8Array.fromBase64(chunk).length];
  });
  assert.deepEqual(sizes, [1_048_576, 1_048_577]);
});
