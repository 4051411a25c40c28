import assert from "node:assert/strict";
import { noticesOf, packageBeside, packagesOf } from "../../scripts/compile/notices.ts";
import { CompileError } from "../../scripts/compile/step.ts";

/** Packages side by side, as Deno keeps them. */
class Cache implements AsyncDisposable {
  readonly directory = Deno.makeTempDirSync({ prefix: "exec-server-notices-test-" });

  /** @returns The path of its module. */
  async add(name: string, license: unknown, files: Readonly<Record<string, string>> = {}): Promise<string> {
    const directory = `${this.directory}/${name}/1.2.3`;
    await Deno.mkdir(`${directory}/inner`, { recursive: true });
    const optionalDependencies = { [`${name}-linux-x64`]: "1", [`${name}-win32-x64`]: "1", other: "1" };
    const manifest = JSON.stringify({ name, version: "1.2.3", license, optionalDependencies });
    // The inner one says nothing of the package.
    const all = { ...files, "package.json": manifest, "inner/package.json": '{"type":"module"}', "inner/main.js": "" };
    for (const [path, text] of Object.entries(all)) await Deno.writeTextFile(`${directory}/${path}`, text);
    return `${directory}/inner/main.js`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.directory, { recursive: true });
  }
}

Deno.test("notices name every package once, in order, with the texts of their licences, equal ones together", async () => {
  await using cache = new Cache();
  const files = [
    await cache.add("second", "ISC", { "LICENSE": "one text\n" }),
    await cache.add("@some/third", "MIT", {
      "NOTICE.md": "a notice",
      "licence.txt": "a licence",
      "license.js": "code",
    }),
    await cache.add("first", "ISC", { "COPYING": "one text  \r\n\r\n", "README.md": "read me" }),
    await cache.add("without", "0BSD"),
  ];
  const packages = await packagesOf([...files, files[0]!]);
  const notices = noticesOf(packages, "1.2.3");
  assert.equal(noticesOf(packages.toReversed(), "1.2.3"), notices);
  const [base, ...sections] = notices.split(/\n\n=+\n/);
  assert.match(base!, /^Deno 1\.2\.3 \(MIT\).* https:\/\/github\.com\/denoland\/deno\/blob\/v1\.2\.3\/LICENSE\.md,$/m);
  assert.deepEqual(sections, [
    "@some/third 1.2.3 (MIT)\n  with @some/third-win32-x64\n\na notice\n\na licence",
    "first 1.2.3 (ISC)\n  with first-win32-x64\nsecond 1.2.3 (ISC)\n  with second-win32-x64\n\none text",
    "without 1.2.3 (0BSD)\n  with without-win32-x64\n\n" +
    "These bring no text of their licence, which https://spdx.org/licenses/ has by its name.\n",
  ]);
});

Deno.test("what may not be passed on with a notice alone is refused, with its name", async () => {
  await using cache = new Cache();
  const refused = async (promise: Promise<unknown>, reason: RegExp) => {
    await assert.rejects(promise, (error) => error instanceof CompileError && reason.test(error.message));
  };
  const copyleft = await cache.add("copyleft", "GPL-3.0-only");
  await refused(packagesOf([copyleft]), /^the package copyleft 1\.2\.3 has the licence "GPL-3\.0-only"; what .* MIT, /);
  await refused(packagesOf([await cache.add("silent", undefined)]), /^the package silent 1\.2\.3 names no licence; /);
  await refused(packagesOf([await cache.add("odd", { type: "MIT" })]), /^the package odd .* licence {"type":"MIT"}; /);
  await refused(
    packagesOf([`${cache.directory}/alone.js`]),
    /^it is not known which package .*\/alone\.js belongs to$/,
  );
  const [known] = await packagesOf([await cache.add("@some/known", "MIT")]);
  await refused(packageBeside(known!, "copyleft", "1.2.3"), /^the package copyleft 1\.2\.3 has the licence /);
  await refused(packageBeside(known!, "none", "1.2.3"), /^the package none 1\.2\.3 is not in the cache of Deno$/);
});
