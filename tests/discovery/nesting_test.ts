import assert from "node:assert/strict";
import { readFrontMatter } from "../../lib/discovery/installed/front_matter.ts";
import { readSkillMetadata } from "../../lib/discovery/installed/skill_metadata.ts";
import { MAX_YAML_LENGTH, YamlError } from "../../lib/discovery/installed/yaml.ts";
import { manifestName, readManifestHeader } from "../../lib/discovery/roots/manifest.ts";
import { readToml, TomlError } from "../../lib/toml/read.ts";

const nested = (open: string, inner: string, close: string, depth: number): string =>
  `${open.repeat(depth)}${inner}${close.repeat(depth)}`;

Deno.test("a TOML document nests 80 deep, and one level more is refused with its place", () => {
  const cases: [string, string, number][] = [
    [`a=${nested("[", "", "]", 80)}`, `a=${nested("[", "", "]", 81)}`, 83],
    [`a=${nested("{a=", "1", "}", 80)}`, `a=${nested("{a=", "1", "}", 81)}`, 243],
    [`${"a.".repeat(79)}a=1`, `${"a.".repeat(80)}a=1`, 1],
    [`[${"a.".repeat(79)}a]`, `[${"a.".repeat(80)}a]`, 1],
  ];
  for (const [good, bad, column] of cases) {
    assert.equal(readToml(good).size, 1);
    assert.throws(
      () => readToml(bad),
      (error) => error instanceof TomlError && error.line === 1 && error.column === column,
    );
    assert.throws(() => readToml(`${bad}${"[".repeat(100_000)}`), TomlError);
  }
});

Deno.test("brackets and points in strings and comments of TOML nest nothing", () => {
  const deep = `${"[{".repeat(100)}${".a".repeat(200)}`;
  const document =
    `a = "${deep}\\""\nb = '${deep}'\nc = """\n${deep}"\n${deep}"""\nd = '''\n${deep}'\n'''\n# ${deep}\n` +
    `"${deep}" = 1\ne = [\n${"1.5, # [\n".repeat(200)}]\n`;
  assert.deepEqual([...readToml(document).keys()], ["a", "b", "c", "d", deep, "e"]);
});

Deno.test("a manifest may nest 127 deep; a deeper one says nothing, however deep it is", () => {
  const manifest = (depth: number): string => `{"name":"n","x":${nested("[", "", "]", depth - 1)}}`;
  assert.equal(manifestName(manifest(127)), "n");
  for (const depth of [128, 400_000]) assert.equal(manifestName(manifest(depth)), undefined);
  const objects = nested('{"a":', "1", "}", 150_000);
  assert.equal(readManifestHeader(`{"name":"n","x":${objects}}`), undefined);
});

Deno.test("keys below a long one cost no memory each, and only those that count must not be there twice", () => {
  const keys = Array.from({ length: 20_000 }, (_, at) => `"${at}":1`).join(",");
  const manifest = (rest: string): string => `{"name":"n","${"k".repeat(500_000)}":{${keys},"0":2}${rest}}`;
  assert.equal(manifestName(manifest("")), "n");
  assert.equal(manifestName(manifest(',"name":"n"')), undefined);
  assert.equal(readManifestHeader(manifest(',"interface":{"displayName":"a","displayName":"b"}')), undefined);
});

Deno.test("YAML aliases lead to the last anchor of that name before them, and thousands of them do no harm", () => {
  const many = "*a,".repeat(2_000);
  const yaml = `x: [&a one, &a two, ${many}]\ny: &a three\ndescription: *a\nz: &a four`;
  assert.ok(yaml.length <= MAX_YAML_LENGTH);
  assert.equal(readFrontMatter(`---\n${yaml}\n---\n`, "s").description, "three");
  assert.throws(() => readFrontMatter("---\ndescription: d\nx: *a\ny: &a 1\n---\n", "s"), YamlError);
  assert.deepEqual(readSkillMetadata(`x: &p [codex]\npolicy: {products: *p}`).policy?.products, ["codex"]);
});

Deno.test("YAML has no control characters, not even in comments", () => {
  const taken = ["\x85", "\xa0", "\u2028", "\uFEFF", "\uFFFD", "\u{1F600}"];
  const refused = ["\0", "\x01", "\x08", "\v", "\f", "\x1b", "\x7f", "\x80", "\x9f", "\uFFFE", "\uFFFF"];
  const skill = (character: string) => `---\ndescription: x\n# ${character}\n---\n`;
  for (const character of taken) assert.equal(readFrontMatter(skill(character), "s").description, "x");
  for (const character of refused) assert.throws(() => readFrontMatter(skill(character), "s"), YamlError);
});

Deno.test("YAML that is too long is not mended line by line", () => {
  const skill = `---\ndescription: a: b\n${"x: [y,[z\n".repeat(100_000)}---\n`;
  assert.throws(() => readFrontMatter(skill, "s"), { name: "YamlError", message: "the text is too long" });
});
