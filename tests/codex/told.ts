/** What the model was told, in a form in which two runs can be compared. */
import type { Item, ModelRequest } from "./scripted_model.ts";

/** What came of one tool call; for a command, of all the calls that spoke to it. */
export interface Answer {
  /** The tool. */
  readonly tool: string;
  /** How a command stands at the end: `exited with code 3`, `running`; null for other tools and refusals. */
  readonly state: string | null;
  readonly output: string;
}

/** The head that precedes what a command printed. */
const COMMAND_HEAD = new RegExp(
  "^Chunk ID: \\w+\nWall time: [\\d.]+ seconds\n" +
    "Process (?:running with session ID (?<session>\\d+)|(?<state>exited with code -?\\d+))\n" +
    "Original token count: (?<tokens>\\d+)\nOutput:\n",
);

/**
 * What came of each tool call, in the order of the calls. The calls that spoke to one command are joined: where its
 * output was cut depends on time.
 *
 * @param places Text that differs from run to run, and what to put in its place, in this order.
 */
export function answers({ input }: ModelRequest, places: ReadonlyMap<string, string>): Answer[] {
  const calls = new Map(input.filter(isCall).map((item) => [item["call_id"], item]));
  const told: { tool: string; state: string | null; output: string }[] = [];
  const sessions = new Map<string, number>();
  for (const item of input.filter((each) => String(each["type"]).endsWith("_output"))) {
    const asked = calls.get(item["call_id"]);
    if (asked === undefined) throw new Error(`an output without a call: ${JSON.stringify(item)}`);
    const text = plain(item["output"]);
    const head = text.match(COMMAND_HEAD);
    const output = replaceAll(head === null ? text : text.slice(head[0].length), places);
    const groups = head?.groups ?? {};
    const state = head === null ? null : groups["state"] ?? "running";
    const known = sessions.get(sessionAsked(asked));
    if (known !== undefined && head !== null) {
      told[known] = { ...told[known]!, state, output: told[known]!.output + output };
      continue;
    }
    if (groups["session"] !== undefined) sessions.set(groups["session"], told.length);
    told.push({ tool: String(asked["name"]), state, output: withoutTimes(output) });
  }
  return told;
}

/**
 * What the model was told before it said anything: instructions of the project, skills, where it is. The first message,
 * long and always the same, is the CLI's own.
 */
export function introduction({ input }: ModelRequest, places: ReadonlyMap<string, string>): string {
  return input.filter(({ type }) => type === "message")
    .slice(1)
    .map((item) => `${item["role"]}: ${replaceAll(plain(item["content"]), places)}`)
    .join("\n")
    .replace(/<current_date>[^<]*/, "<current_date>today");
}

/** The names of the tools that the model may use. */
export function toolNames({ tools }: ModelRequest): string[] {
  return tools.map((tool) => String(tool["name"] ?? tool["type"])).sort();
}

function isCall(item: Item): boolean {
  return item["type"] === "function_call" || item["type"] === "custom_tool_call";
}

function sessionAsked(asked: Item): string {
  if (asked["name"] !== "write_stdin") return "";
  return String((JSON.parse(String(asked["arguments"])) as Item)["session_id"]);
}

/** Content is text, or a list of texts and images. */
function plain(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content.map((part: Item) => typeof part["text"] === "string" ? part["text"] : JSON.stringify(part)).join("\n");
}

function replaceAll(text: string, places: ReadonlyMap<string, string>): string {
  let replaced = text;
  for (const [from, to] of places) replaced = replaced.replaceAll(from, to);
  return replaced;
}

function withoutTimes(text: string): string {
  return text.replace(/^Wall time: [\d.]+ seconds$/gm, "Wall time: some seconds");
}
