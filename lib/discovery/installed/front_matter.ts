import { repairedYaml } from "./front_matter_repair.ts";
import { lengthOf, linesOf, singleLine, trimmed } from "./text.ts";
import { MAX_YAML_LENGTH, YamlError, YamlValue } from "./yaml.ts";

/** What the first lines of a `SKILL.md` say about it. */
export interface FrontMatter {
  readonly name: string;
  readonly description: string;
  readonly shortDescription: string | null;
}

/** In characters. */
const MAX_NAME_LENGTH = 64;

/**
 * @param defaultName For a skill that does not say its name.
 * @throws {YamlError} If it says nothing, or not what it has to.
 */
export function readFrontMatter(skill: string, defaultName: string): FrontMatter {
  const { name, description, shortDescription } = parseFields(frontMatterOf(skill));
  const ownName = singleLine(name ?? "") || defaultName;
  if (lengthOf(ownName) > MAX_NAME_LENGTH) throw new YamlError("the name is too long");
  const ownDescription = singleLine(description ?? "");
  if (ownDescription === "") throw new YamlError("a description is missing");
  return { name: ownName, description: ownDescription, shortDescription: singleLine(shortDescription ?? "") || null };
}

/** The lines between two of three hyphens. */
function frontMatterOf(skill: string): string {
  const lines = linesOf(skill);
  const end = lines.findIndex((line, at) => at > 0 && trimmed(line) === "---");
  if (trimmed(lines[0] ?? "") !== "---" || end <= 1) throw new YamlError("the front matter is missing");
  return lines.slice(1, end).join("\n");
}

interface Fields {
  readonly name: string | null;
  readonly description: string | null;
  readonly shortDescription: string | null;
}

function parseFields(yaml: string): Fields {
  try {
    return fieldsOf(yaml);
  } catch (error) {
    // Of a text that is too long, not even the lines are looked at.
    if (!(error instanceof YamlError) || yaml.length > MAX_YAML_LENGTH) throw error;
    const repaired = repairedYaml(yaml);
    if (repaired === undefined) throw error;
    return fieldsOf(repaired);
  }
}

function fieldsOf(yaml: string): Fields {
  const members = YamlValue.parse(yaml).members("name", "description", "metadata");
  const metadata = members.get("metadata")?.members("short-description");
  return {
    name: optionalString(members.get("name")),
    description: optionalString(members.get("description")),
    shortDescription: optionalString(metadata?.get("short-description")),
  };
}

export function optionalString(value: YamlValue | undefined): string | null {
  return present(value)?.string() ?? null;
}

/** Undefined also for one of the words for nothing. */
export function present(value: YamlValue | undefined): YamlValue | undefined {
  return value?.isNull ? undefined : value;
}
