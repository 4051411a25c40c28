import { optionalString, present } from "./front_matter.ts";
import { lengthOf, singleLine } from "./text.ts";
import { YamlError, YamlValue } from "./yaml.ts";

export interface ToolDependency {
  readonly type: string;
  readonly value: string;
  readonly description: string | null;
  readonly transport: string | null;
  readonly command: string | null;
  readonly url: string | null;
  readonly oauthCallbackPort: number | null;
}

/** What `agents/openai.yaml` beside a skill says. */
export interface SkillMetadata {
  readonly dependencies: { readonly tools: readonly ToolDependency[] } | null;
  readonly policy: { readonly allowImplicitInvocation: boolean | null; readonly products: readonly string[] } | null;
}

export const NO_METADATA: SkillMetadata = { dependencies: null, policy: null };

/** In characters; longer values are as good as missing. Source: as the reference. */
const MAX_WORD_LENGTH = 64;
const MAX_VALUE_LENGTH = 1024;

const PRODUCTS: Readonly<Record<string, string>> = {
  codex: "codex",
  CODEX: "codex",
  chatgpt: "chatgpt",
  CHATGPT: "chatgpt",
  atlas: "atlas",
  ATLAS: "atlas",
};

/** Says nothing if the text is not what it should be. */
export function readSkillMetadata(yaml: string): SkillMetadata {
  try {
    const members = YamlValue.parse(yaml).members("interface", "dependencies", "policy");
    const dependencies = present(members.get("dependencies"));
    const policy = present(members.get("policy"));
    checkInterface(present(members.get("interface")));
    const tools = dependencies?.members("tools").get("tools")?.items().map(toolOf) ?? [];
    const usable = tools.filter((tool) => tool !== null);
    return {
      dependencies: usable.length === 0 ? null : { tools: usable },
      policy: policy === undefined ? null : policyOf(policy),
    };
  } catch (error) {
    if (error instanceof YamlError) return NO_METADATA;
    throw error;
  }
}

const PRESENTATION = [
  "display_name",
  "short_description",
  "icon_small",
  "icon_large",
  "brand_color",
  "default_prompt",
];

/** Nothing of it is told, but it can spoil the rest. */
function checkInterface(presentation: YamlValue | undefined): void {
  for (const value of presentation?.members(...PRESENTATION).values() ?? []) optionalString(value);
}

/** Null if it does not say what it is. */
function toolOf(tool: YamlValue): ToolDependency | null {
  const members = tool.members("type", "value", "description", "transport", "command", "url", "oauth");
  const texts = Object.fromEntries(
    ["type", "value", "description", "transport", "command", "url"].map((name) =>
      [name, optionalString(members.get(name))] as const
    ),
  );
  const oauthCallbackPort = callbackPort(present(members.get("oauth")));
  const text = (name: string, limit: number): string | null => {
    const line = singleLine(texts[name] ?? "");
    return line === "" || lengthOf(line) > limit ? null : line;
  };
  const type = text("type", MAX_WORD_LENGTH);
  const value = text("value", MAX_VALUE_LENGTH);
  if (type === null || value === null) return null;
  return {
    type,
    value,
    description: text("description", MAX_VALUE_LENGTH),
    transport: text("transport", MAX_WORD_LENGTH),
    command: text("command", MAX_VALUE_LENGTH),
    url: text("url", MAX_VALUE_LENGTH),
    oauthCallbackPort,
  };
}

function callbackPort(oauth: YamlValue | undefined): number | null {
  const members = oauth?.members("callback_port", "callbackPort");
  if (members?.size === 2) throw new YamlError("the callback port is there twice");
  return present(members?.values().next().value)?.u16() ?? null;
}

function policyOf(policy: YamlValue): NonNullable<SkillMetadata["policy"]> {
  const members = policy.members("allow_implicit_invocation", "products");
  return {
    allowImplicitInvocation: present(members.get("allow_implicit_invocation"))?.boolean() ?? null,
    products: members.get("products")?.items().map(productOf) ?? [],
  };
}

function productOf(value: YamlValue): string {
  const name = value.string();
  if (!Object.hasOwn(PRODUCTS, name)) throw new YamlError("unknown product");
  return PRODUCTS[name] as string;
}
