/** Files for tests of the commands that copy, and what is left of them. */
import assert from "node:assert/strict";
import { PARTIAL_SUFFIX } from "../../lib/cli/copy/partial_file.ts";
import type { CommandLine } from "./command_line.ts";

/** Runs a shell script in the user's home. */
export async function shell({ home, env }: CommandLine, script: string): Promise<string> {
  const command = new Deno.Command("sh", { args: ["-ec", script], cwd: home, clearEnv: true, env, stderr: "piped" });
  const { success, stdout, stderr } = await command.output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/** Writes bytes that no mistake could bring about, and that are the same for the same seed. */
export async function writeNoise(path: string, bytes: number, seed = 1): Promise<void> {
  const key = await crypto.subtle.importKey("raw", new Uint8Array(16).fill(seed), "AES-CTR", false, ["encrypt"]);
  using file = await Deno.open(path, { create: true, write: true, truncate: true });
  const zeros = new Uint8Array(1024 * 1024);
  const counter = new Uint8Array(16);
  for (let at = 0; at < bytes; at += zeros.length) {
    new DataView(counter.buffer).setUint32(4, at / zeros.length);
    const block = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-CTR", counter, length: 64 }, key, zeros));
    let rest = block.subarray(0, Math.min(block.length, bytes - at));
    while (rest.length > 0) rest = rest.subarray(await file.write(rest));
  }
}

/** Everything that a copy of a tree keeps, as text: kinds, permission bits, sizes, times, links, content, bytes of names. */
export function describeTree(user: CommandLine, directory: string): Promise<string> {
  return shell(
    user,
    `cd '${directory}'; find . ! -type d -printf '%y %m %s %Ts %p %l\\n' -o -printf '%y %m %Ts %p\\n' | LC_ALL=C sort | od -c
     find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | od -c`,
  );
}

/** Unfinished files anywhere in the user's home. */
export function leftovers(user: CommandLine): string[] {
  return [...walk(user.home)].filter((path) => path.includes(PARTIAL_SUFFIX));
}

function* walk(directory: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    const path = `${directory}/${name}`;
    yield path;
    if (isDirectory) yield* walk(path);
  }
}

export async function sameContent(one: string, other: string): Promise<void> {
  const [a, b] = await Promise.all([Deno.readFile(one), Deno.readFile(other)]);
  assert.equal(b.length, a.length);
  assert.ok(a.every((byte, i) => byte === b[i]), `${one} and ${other} differ`);
}
