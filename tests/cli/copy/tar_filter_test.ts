import assert from "node:assert/strict";
import fc from "fast-check";
import { TarFilter } from "../../../lib/cli/copy/tar_filter.ts";

const unlessWindows = { ignore: Deno.build.os === "windows" };

/** Makes a tree with a shell script, and an archive of it. */
async function archiveOf(script: string, format: "gnu" | "posix" | "ustar" = "gnu"): Promise<Uint8Array<ArrayBuffer>> {
  const directory = await Deno.makeTempDir({ prefix: "exec-server-tar-" });
  try {
    const command = new Deno.Command("sh", {
      args: ["-c", `set -e; umask 022; ${script}\nexec tar --format=${format} -cf - .`],
      cwd: directory,
      stderr: "inherit",
    });
    const { success, stdout } = await command.output();
    assert.ok(success);
    return stdout;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** What comes out of a filter that is handed the archive in pieces of these lengths, over and over. */
function filtered(archive: Uint8Array<ArrayBuffer>, lengths: readonly number[] = [archive.length]) {
  const [entries, leftOut]: [string[], string[]] = [[], []];
  const filter = new TarFilter({ entry: (name) => entries.push(name), leftOut: (name) => leftOut.push(name) });
  const out: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0, i = 0; at < archive.length; i++) {
    const length = lengths[i % lengths.length]!;
    out.push(...filter.push(archive.subarray(at, at + length)));
    at += length;
  }
  filter.end();
  const passed = new Uint8Array(out.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of out) {
    passed.set(part, at);
    at += part.length;
  }
  return { entries, leftOut, archive: passed };
}

/** `mode name` of every entry, as tar itself lists an archive. */
async function listing(archive: Uint8Array<ArrayBuffer>): Promise<string[]> {
  const tar = new Deno.Command("tar", { args: ["-tvf", "-"], stdin: "piped", stdout: "piped", stderr: "inherit" })
    .spawn();
  const writer = tar.stdin.getWriter();
  await writer.write(archive);
  await writer.close();
  const { success, stdout } = await tar.output();
  assert.ok(success);
  return new TextDecoder().decode(stdout).trimEnd().split("\n");
}

const ORDINARY = `
  mkdir -p dir/empty "$(printf 'd%0150d' 0)"
  printf hello > dir/file; chmod 751 dir/file; : > nothing
  printf x > "$(printf 'new\\nline')"; printf x > "$(printf '\\377\\376')"; printf x > ./-rf
  printf x > "$(printf 'n%0120d' 0)"; printf x > "$(printf 'd%0150d/f%0150d' 0 0)"
  head -c 1500000 /dev/zero > large
  ln -s file dir/link; ln -s /nowhere dangling; ln dir/file hard; ln -s "$(printf 'to%0200d' 0)" far`;

for (const format of ["gnu", "posix"] as const) {
  Deno.test(
    `an archive in the ${format} format passes byte for byte, in whatever pieces it comes`,
    unlessWindows,
    async () => {
      const archive = await archiveOf(ORDINARY, format);
      const whole = filtered(archive);
      assert.ok(whole.entries.length >= 15);
      assert.deepEqual(whole.leftOut, []);
      // All but the padding at the end.
      assert.deepEqual(whole.archive, archive.subarray(0, whole.archive.length));
      assert.ok(archive.subarray(whole.archive.length).every((byte) => byte === 0));
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 5 }), (lengths) => {
          // Tiny pieces of a large archive say no more than a few of them do.
          if (Math.max(...lengths) < 200) lengths = [...lengths, 5000];
          const pieces = filtered(archive, lengths);
          assert.deepEqual(pieces.entries, whole.entries);
          assert.equal(pieces.archive.length, whole.archive.length);
          assert.ok(pieces.archive.every((byte, i) => byte === whole.archive[i]));
        }),
        { numRuns: 5 },
      );
    },
  );
}

Deno.test("set-id bits and fifos do not pass; sticky bits do", unlessWindows, async () => {
  const archive = await archiveOf(`
    printf x > su; chmod 6755 su; mkdir sticky; chmod 1777 sticky; mkfifo fifo
    mkfifo "$(printf 'f%0120d' 0)"; printf x > after`);
  const { archive: passed, leftOut } = filtered(archive);
  const modes = (await listing(passed)).map((line) => `${line.split(/\s+/)[0]} ${line.split(/\s+/).at(-1)}`).sort();
  assert.deepEqual(modes, [
    "-rw-r--r-- ./after",
    "-rwxr-xr-x ./su",
    "drwx------ ./",
    "drwxrwxrwt ./sticky/",
  ]);
  assert.deepEqual(leftOut.sort(), ["./fifo", `./f${"0".repeat(120)}`].sort());
});

Deno.test("a name that leads out of the tree ends the copy, however it is written", unlessWindows, async () => {
  const long = "x".repeat(150);
  for (const format of ["gnu", "posix"] as const) {
    for (const name of ["/etc/passwd", "../up", "a/../../up", `${long}/../../up`]) {
      const archive = await archiveOf(
        `printf x > file; exec tar --format=${format} -P --transform='s|^file$|${name}|' -cf - file`,
      );
      assert.throws(() => filtered(archive), { name: "TarError", message: /outside of the tree/ }, `${format} ${name}`);
    }
    const archive = await archiveOf(
      `printf x > a; ln a b; exec tar --format=${format} -P --transform='flags=h;s|^a$|../../a|' -cf - a b`,
    );
    assert.throws(() => filtered(archive), { name: "TarError", message: /outside of the tree/ }, "a hard link");
  }
});

Deno.test("what is no archive, or only the beginning of one, is refused", unlessWindows, async () => {
  const archive = await archiveOf("printf hello > file");
  assert.throws(() => filtered(archive.subarray(0, 700)), { name: "TarError", message: "the archive broke off" });
  assert.throws(() => filtered(new Uint8Array()), { name: "TarError", message: "the archive broke off" });
  assert.throws(() => filtered(new TextEncoder().encode("no archive ".repeat(100))), { name: "TarError" });
  const broken = archive.slice();
  broken[0]! ^= 1;
  assert.throws(() => filtered(broken), { name: "TarError", message: /does not add up/ });
});

Deno.test("an extended header has a bound", unlessWindows, async () => {
  const archive = (await archiveOf(`printf x > "$(printf 'n%0120d' 0)"`, "gnu")).slice();
  // The long name's own header claims a gigabyte.
  const header = archive.subarray(1024 - 512);
  assert.equal(String.fromCharCode(header[156]!), "L");
  header.set(new TextEncoder().encode("10000000000\0"), 124);
  header.fill(0x20, 148, 156);
  const sum = header.subarray(0, 512).reduce((sum, byte) => sum + byte, 0);
  header.set(new TextEncoder().encode(sum.toString(8).padStart(6, "0") + "\0"), 148);
  const filter = new TarFilter();
  assert.throws(
    () => {
      filter.push(archive.subarray(512, 1024));
      for (let i = 0; i < 100; i++) filter.push(new Uint8Array(65_536));
    },
    { name: "TarError", message: /more than 1048576 bytes/ },
  );
});
