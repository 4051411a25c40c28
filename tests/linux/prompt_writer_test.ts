import assert from "node:assert/strict";
import { close, pipe, read } from "../../lib/linux/libc.ts";
import { promptWriter } from "../../lib/linux/prompt_writer.ts";

const ignore = Deno.build.os !== "linux";

/** Both ends of a pipe whose writing end is an ordinary, blocking one. */
function openPipe(): [reader: number, writer: number] {
  const ends = pipe();
  if (typeof ends === "number") throw new Error(`no pipe: error ${-ends}`);
  return [...ends];
}

Deno.test("promptWriter writes in order until the pipe is full, and again when there is room", { ignore }, () => {
  const [reader, writer] = openPipe();
  using prompt = promptWriter(writer)!;
  const message = new Uint8Array(1000).map((_, i) => i);
  let written = 0;
  for (let count; (count = prompt.writeNow(message.subarray(written % message.length))) > 0;) written += count;
  assert.ok(written >= 4096, "a pipe holds one page at least");
  assert.equal(prompt.writeNow(message), 0);
  const all = new Uint8Array(written);
  for (let at = 0; at < written;) at += read(reader, all.subarray(at));
  assert.deepEqual(all, all.map((_, i) => message[i % message.length]!));
  assert.equal(prompt.writeNow(message), message.length);
  close(reader);
  close(writer);
});

Deno.test("promptWriter writes nothing when nobody can read any more", { ignore }, () => {
  const [reader, writer] = openPipe();
  using prompt = promptWriter(writer)!;
  close(reader);
  assert.equal(prompt.writeNow(new Uint8Array(10)), 0);
  close(writer);
});

Deno.test("promptWriter leaves the descriptor itself as it was", { ignore }, async () => {
  const [reader, writer] = openPipe();
  const flags = async () => (await Deno.readTextFile(`/proc/self/fdinfo/${writer}`)).match(/flags:\s*(\d+)/)?.[1];
  const before = await flags();
  using _prompt = promptWriter(writer);
  assert.equal(await flags(), before);
  close(reader);
  close(writer);
});

Deno.test("promptWriter wants a pipe: no file, no missing descriptor", { ignore }, async () => {
  const directory = await Deno.makeTempDir();
  try {
    using _file = await Deno.create(`${directory}/file`);
    const numbers = [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => Number(name));
    const file = numbers.find((number) => readLink(number) === `${directory}/file`)!;
    assert.equal(promptWriter(file), undefined);
    assert.equal(promptWriter(Math.max(...numbers) + 100), undefined);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

/** The descriptor that lists the folder is gone when its turn comes. */
function readLink(fd: number): string | undefined {
  try {
    return Deno.readLinkSync(`/proc/self/fd/${fd}`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
