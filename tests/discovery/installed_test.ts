import assert from "node:assert/strict";
import fc from "fast-check";
import { ResponseBudget } from "../../lib/discovery/installed/budget.ts";
import { readFrontMatter } from "../../lib/discovery/installed/front_matter.ts";
import { activeVersion } from "../../lib/discovery/installed/plugin_version.ts";
import { readSkillMetadata } from "../../lib/discovery/installed/skill_metadata.ts";
import { singleLine, trimmed } from "../../lib/discovery/installed/text.ts";
import { MAX_YAML_LENGTH, YamlError } from "../../lib/discovery/installed/yaml.ts";
import { readCases } from "../support/cases.ts";

/** Name, description and short description as the reference read them; null: it left the skill out. */
interface Case {
  readonly skill: string;
  readonly read: readonly [name: string, description: string, shortDescription: string | null] | null;
}

Deno.test("front matter is read, and repaired, as the reference does", () => {
  for (const { skill, read } of readCases<Case>("cases/front_matter.jsonl", import.meta.url)) {
    if (read === null) assert.throws(() => readFrontMatter(skill, "<DIR>"), YamlError, JSON.stringify(skill));
    else {
      const { name, description, shortDescription } = readFrontMatter(skill, "<DIR>");
      assert.deepEqual([name, description, shortDescription], read, JSON.stringify(skill));
    }
  }
});

Deno.test("the metadata of a skill is read as the reference does", () => {
  for (
    const { yaml, ...read } of readCases<{ yaml: string }>("cases/skill_metadata.jsonl", import.meta.url)
  ) assert.deepEqual(readSkillMetadata(yaml), read, JSON.stringify(yaml));
});

Deno.test("whatever a file says, its front matter is read or refused", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
      const skill = `---\ndescription: ${text}\n---\n`;
      try {
        const { description } = readFrontMatter(skill, "name");
        assert.equal(description, singleLine(description));
        assert.notEqual(description, "");
      } catch (error) {
        if (!(error instanceof YamlError)) throw error;
      }
      readSkillMetadata(text);
    }),
    { numRuns: 500 },
  );
});

Deno.test("YAML that would take long is refused at once", () => {
  const list = `- {a: [b]}\n`.repeat(MAX_YAML_LENGTH / 10);
  assert.throws(() => readFrontMatter(`---\ndescription: d\nx:\n${list}---\n`, "name"), YamlError);
  assert.deepEqual(readSkillMetadata(list), { dependencies: null, policy: null });
  assert.equal(readFrontMatter(`---\ndescription: ${"[".repeat(1_000)}\n---\n`, "name").description.length, 1_000);
});

Deno.test("white space is what Rust takes for it", () => {
  assert.equal(trimmed("\u0085\u2028 a\u00a0b \u3000\t"), "a\u00a0b");
  assert.equal(trimmed("\ufeffa"), "\ufeffa");
  assert.equal(singleLine(" a \u0085 b\n\tc "), "a b c");
  assert.equal(trimmed(" ".repeat(200_000)), "");
  assert.equal(trimmed(`${"a ".repeat(200_000)}b`).length, 400_001);
});

Deno.test("the newest version of a plugin counts, and a local one before all", () => {
  for (
    const [directories, version] of [
      [[], undefined],
      [["1.9.0", "1.10.0", "1.2.0"], "1.10.0"],
      [["9.9.9", "local"], "local"],
      [["1.0.0", "1.0.0-rc.1"], "1.0.0"],
      [["1.0.0-alpha.10", "1.0.0-alpha.2"], "1.0.0-alpha.10"],
      [["1.0.0", "1.0.0+build"], "1.0.0+build"],
      [["1.0.0+9", "1.0.0+10"], "1.0.0+10"],
      [["v1", "v2"], "v2"],
      [[".", "..", "a b", "é"], undefined],
    ] as const
  ) assert.equal(activeVersion(directories), version, directories.join());
});

Deno.test("an answer that is too large loses skills before plugins and says so", () => {
  const budget = new ResponseBudget();
  const plugin = { name: "p", skills: [], text: "x".repeat(3_000_000) };
  const skills = [1, 2, 3].map((number) => ({ number, text: "y".repeat(500_000) }));
  const response = { plugins: [plugin], skills: [] as unknown[], warnings: ["w"] };
  assert.deepEqual(budget.admitPlugin(plugin), plugin);
  for (const skill of skills) {
    if (budget.admitSkill(skill)) response.skills.push(skill);
  }
  assert.equal(response.skills.length, 2);
  budget.trim(response);
  assert.deepEqual(response.warnings, ["capability discovery size limit reached", "w"]);
  assert.equal(response.skills.length, 2);
});

Deno.test("a plugin gives up skills for which there is no room", () => {
  const budget = new ResponseBudget();
  const many = { skills: Array.from({ length: 2_000 }, (_, number) => number) };
  assert.equal(budget.admitPlugin(many)?.skills.length, 2_000);
  assert.equal(budget.admitPlugin({ skills: many.skills.slice(0, 100) })?.skills.length, 46);
  assert.equal(budget.isSpent, true);
  assert.equal(budget.admitPlugin({ skills: [] }), undefined);
  assert.equal(budget.admitSkill({}), false);
});
