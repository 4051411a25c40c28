import assert from "node:assert/strict";
import * as libc from "../../lib/linux/libc.ts";
import { memoryFile } from "../../lib/sandbox/memory_file.ts";
import { leftOpen, openDescriptors } from "../support/linux.ts";

const onLinux = { ignore: Deno.build.os !== "linux" };

Deno.test("memoryFile is read from its beginning by whoever gets the descriptor, and is not inherited", onLinux, () => {
  const before = openDescriptors();
  const contents = new Uint8Array(300_000).map((_, at) => at % 251);
  const fd = memoryFile("some words", contents);
  try {
    const buffer = new Uint8Array(contents.length + 1);
    assert.equal(libc.read(fd, buffer), contents.length);
    assert.deepEqual(buffer.subarray(0, -1), contents);
    assert.match(Deno.readLinkSync(`/proc/self/fd/${fd}`), /some words/);
    const flags = /flags:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/self/fdinfo/${fd}`));
    assert.equal(parseInt(flags![1]!, 8) & libc.O_CLOEXEC, libc.O_CLOEXEC);
  } finally {
    libc.close(fd);
  }
  assert.deepEqual(leftOpen(before), []);
});

Deno.test("memoryFile says what could not be kept, and leaves nothing open", onLinux, () => {
  const before = openDescriptors();
  assert.throws(() => memoryFile("x".repeat(300), new Uint8Array()), {
    kind: "sandboxUnavailable",
    message: /^cannot keep the x+ in memory: Invalid argument$/,
  });
  assert.deepEqual(leftOpen(before), []);
});
