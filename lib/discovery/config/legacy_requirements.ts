import { isTable, TomlLiteral, type TomlTable, type TomlValue } from "../../toml/value.ts";
import { ConfigError } from "./config_file.ts";

const REVIEWERS: Readonly<Record<string, readonly string[]>> = {
  user: ["user"],
  // Whoever must have an automatic reviewer may still ask a person.
  auto_review: ["auto_review", "user"],
  guardian_subagent: ["auto_review", "user"],
};
const SANDBOX_MODES: Readonly<Record<string, readonly string[]>> = {
  "read-only": ["read-only"],
  "workspace-write": ["read-only", "workspace-write"],
  "danger-full-access": ["read-only", "danger-full-access"],
};
const POLICIES = ["untrusted", "on-failure", "on-request", "granular", "never"];
const GRANULAR: Readonly<Record<string, "required" | "optional">> = {
  sandbox_approval: "required",
  rules: "required",
  skill_approval: "optional",
  request_permissions: "optional",
  mcp_elicitations: "required",
};

/**
 * What an old `managed_config.toml` insists on, in the form of today: a single value becomes the list of those that are
 * allowed.
 *
 * @throws {ConfigError} If one of the values is none that it can be.
 */
export function legacyRequirements(managed: TomlTable): TomlTable {
  const requirements = new Map<string, TomlValue>();
  const policy = managed.get("approval_policy");
  const reviewer = managed.get("approvals_reviewer");
  const mode = managed.get("sandbox_mode");
  const checkedPolicy = policy === undefined ? undefined : approvalPolicy(policy);
  const reviewers = reviewer === undefined ? undefined : choice("approvals_reviewer", reviewer, REVIEWERS);
  const modes = mode === undefined ? undefined : choice("sandbox_mode", mode, SANDBOX_MODES);
  if (checkedPolicy !== undefined) requirements.set("allowed_approval_policies", [checkedPolicy]);
  if (reviewers !== undefined) requirements.set("allowed_approvals_reviewers", reviewers);
  if (modes !== undefined) requirements.set("allowed_sandbox_modes", modes);
  return requirements;
}

function choice(
  key: string,
  value: TomlValue,
  choices: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  if (typeof value !== "string") throw refused(key, "invalid type: unit variant, expected string only");
  if (!Object.hasOwn(choices, value)) throw unknownVariant(key, value, Object.keys(choices));
  return choices[value] as readonly string[];
}

function approvalPolicy(value: TomlValue): TomlValue {
  const key = "approval_policy";
  if (isTable(value)) return granularPolicy(value);
  if (typeof value !== "string") throw refused(key, "invalid type: unit variant, expected string only");
  if (!POLICIES.includes(value)) throw unknownVariant(key, value, POLICIES);
  return value;
}

function granularPolicy(table: TomlTable): TomlTable {
  const granular = table.get("granular");
  if (!isTable(granular)) throw refused("approval_policy", "invalid type: unit variant, expected string only");
  const switches = new Map<string, TomlValue>();
  for (const [name, presence] of Object.entries(GRANULAR)) {
    const value = granular.get(name);
    if (value === undefined && presence === "required") {
      throw refused("approval_policy.granular", `missing field \`${name}\``);
    }
    switches.set(name, value ?? new TomlLiteral("boolean", "false"));
  }
  return new Map([["granular", switches]]);
}

function unknownVariant(key: string, value: string, choices: readonly string[]): ConfigError {
  const listed = choices.map((choice) => `\`${choice}\``).join(", ");
  return refused(key, `unknown variant \`${value}\`, expected one of ${listed}`);
}

function refused(key: string, reason: string): ConfigError {
  return new ConfigError(`Failed to parse config requirements as TOML: ${reason}\nin \`${key}\`\n`);
}
