import assert from "node:assert/strict";
import type { StreamName } from "../../lib/process/child.ts";
import { OutputLog } from "../../lib/process/output_log.ts";
import { looksDenied } from "../../lib/process/sandbox_denial.ts";

const DENIALS: [exitCode: number, output: [StreamName, string][], denied: boolean][] = [
  [1, [["stdout", "x: Permission DENIED\n"]], true],
  [0, [["stdout", "permission denied"]], false],
  [1, [["stdout", "all is well"]], false],
  [159, [], true],
  [137, [["stderr", "operation not permitted"]], true],
  [7, [["pty", "Read-Only File System"]], true],
  [2, [["stderr", "failed to write file"]], true],
  [1, [["stdout", "\xffsand"], ["stdout", "box\xff"]], true],
  [1, [["stdout", "sand\xffbox"]], false],
  [1, [["stdout", "land"], ["stderr", "lock"]], true],
  [1, [["stdout", "sec"], ["stderr", "!"], ["stdout", "comp"]], true],
  [1, [["stdout", "sec"], ["pty", "!"], ["stderr", "comp"]], false],
  [1, [["stdout", "landloc\u212A"]], false],
  [1, [["stdout", "permission\ndenied"]], false],
];

Deno.test("the guess at a denial looks at the exit code and at the output, by stream and in the order it came", () => {
  for (const [exitCode, output, denied] of DENIALS) {
    const log = new OutputLog();
    output.forEach(([stream, text], index) => log.append(index + 1, stream, bytes(text)));
    assert.equal(looksDenied(exitCode, log), denied, JSON.stringify([exitCode, output]));
  }
});

Deno.test("output that was evicted is not held against a sandbox", () => {
  const log = new OutputLog();
  log.append(1, "stdout", bytes("sandbox"));
  for (let seq = 2; seq <= 17; seq++) log.append(seq, "stderr", new Uint8Array(65_536));
  assert.equal(looksDenied(1, log), false);
});

/** UTF-8, except that U+00FF stands for a byte that is none. */
function bytes(text: string): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  return Uint8Array.from(
    [...text].flatMap((character) => character === "\xff" ? [0xff] : [...encoder.encode(character)]),
  );
}
