import assert from "node:assert/strict";
import { bearerFile } from "../../../lib/relay/credentials/bearer_file.ts";

const signal = new AbortController().signal;

/** A directory with one file, `token`. */
class Place implements AsyncDisposable {
  readonly path: string;

  private constructor(readonly directory: string) {
    this.path = `${directory}/token`;
  }

  static async with(text: string | undefined, mode = 0o600): Promise<Place> {
    const place = new Place(await Deno.makeTempDir());
    if (text !== undefined) await place.write(text, mode);
    return place;
  }

  async write(text: string, mode = 0o600): Promise<void> {
    await Deno.writeTextFile(this.path, text);
    await Deno.chmod(this.path, mode);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.directory, { recursive: true });
  }
}

function refusal(path: string, why: string) {
  return {
    name: "CredentialError",
    message: `cannot use the registration bearer file ${path}: ${why}`,
    transient: false,
  };
}

const NO_TOKEN = "it does not hold one token of at most 16383 printable ASCII characters and nothing else";

Deno.test("a bearer file holds a token, with or without the end of a line", async () => {
  for (const text of ["tok-1", "tok-1\n", "tok-1\r\n"]) {
    await using place = await Place.with(text);
    const credential = await bearerFile(place.path);
    assert.deepEqual(await credential.headers(signal), { authorization: "Bearer tok-1" });
  }
  await using place = await Place.with(`${"a".repeat(16_383)}\r\n`);
  await bearerFile(place.path);
});

Deno.test("a bearer file is read again for each request", async () => {
  await using place = await Place.with("tok-1\n");
  const credential = await bearerFile(place.path);
  const refused = await credential.headers(signal);
  assert.equal(await credential.renew?.(refused, signal), false);
  await place.write("tok-2\n");
  assert.equal(await credential.renew?.(refused, signal), true);
  assert.deepEqual(await credential.headers(signal), { authorization: "Bearer tok-2" });
});

Deno.test("a bearer file that others may read or write is refused, at the start and later", async () => {
  for (const mode of [0o640, 0o604, 0o644, 0o620, 0o602, 0o666]) {
    await using place = await Place.with("tok-1\n", mode);
    const why = `others than its owner may read or write it (mode 0${mode.toString(8)}); make it 0600`;
    await assert.rejects(bearerFile(place.path), refusal(place.path, why));
  }
  await using place = await Place.with("tok-1\n", 0o400);
  const credential = await bearerFile(place.path);
  await Deno.chmod(place.path, 0o444);
  await assert.rejects(
    credential.headers(signal),
    refusal(place.path, "others than its owner may read or write it (mode 0444); make it 0600"),
  );
});

Deno.test("what a link leads to counts", async () => {
  await using place = await Place.with("tok-1\n");
  await Deno.symlink("token", `${place.directory}/link`);
  const credential = await bearerFile(`${place.directory}/link`);
  assert.deepEqual(await credential.headers(signal), { authorization: "Bearer tok-1" });
  await Deno.chmod(place.path, 0o644);
  await assert.rejects(credential.headers(signal), { message: /may read or write it \(mode 0644\)/ });
});

Deno.test("what is in a bearer file is one token, and is not repeated where it is not", async () => {
  const texts = ["", "\n", "a b", " a\n", "a\nb\n", "a\n\n", "Bearer a", "kä", "\ufeffa", `${"a".repeat(16_384)}`];
  for (const text of texts) {
    await using place = await Place.with(text);
    await assert.rejects(bearerFile(place.path), refusal(place.path, NO_TOKEN), JSON.stringify(text));
  }
  await using place = await Place.with(undefined);
  await Deno.writeFile(place.path, Uint8Array.of(0xff, 0x0a), { mode: 0o600 });
  await assert.rejects(bearerFile(place.path), refusal(place.path, NO_TOKEN));
});

Deno.test("a bearer file that is no small regular file is refused by what it is", async () => {
  await using place = await Place.with("a".repeat(16_386));
  await assert.rejects(bearerFile(place.path), refusal(place.path, "it has more than 16385 bytes"));
  await assert.rejects(bearerFile(place.directory), refusal(place.directory, "it is a directory"));
  await assert.rejects(bearerFile("/dev/zero"), refusal("/dev/zero", "it is not a regular file"));
  const fifo = `${place.directory}/fifo`;
  assert.equal((await new Deno.Command("mkfifo", { args: ["-m", "600", fifo] }).output()).success, true);
  await assert.rejects(bearerFile(fifo), refusal(fifo, "it is not a regular file"));
  const none = `${place.directory}/none`;
  await assert.rejects(bearerFile(none), refusal(none, "No such file or directory (os error 2)"));
  await Deno.symlink("loop", `${place.directory}/loop`);
  await assert.rejects(bearerFile(`${place.directory}/loop`), { message: /Too many levels of symbolic links/ });
});

Deno.test("a bearer file that is gone for a moment is a reason to try again", async () => {
  await using place = await Place.with("tok-1\n");
  const credential = await bearerFile(place.path);
  await Deno.remove(place.path);
  await assert.rejects(credential.headers(signal), { name: "CredentialError", transient: true });
  await place.write("tok-2\n");
  assert.deepEqual(await credential.headers(signal), { authorization: "Bearer tok-2" });
});
