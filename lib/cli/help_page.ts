import type { Cli, Command, CommandOption } from "./command.ts";
import { HELP_OPTION } from "./parse_command.ts";
import { painter } from "./say.ts";

/** Lines longer than this are hard to read; narrower terminals get shorter ones. */
const MAX_COLUMNS = 100;
const MIN_COLUMNS = 40;
const INDENT = 7;

/** What stands on the page and in no variable or option of a single command: valid for all. */
const COMMON_ENVIRONMENT: readonly (readonly [string, string])[] = [
  ["NO_COLOR", "If set and not empty, nothing is coloured. (Only terminals get colours at all.)"],
];

/** The page of a command, laid out as manual pages are. */
export function helpPage(command: Command, cli: Cli): string {
  const columns = Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, cli.terminalSize()?.columns ?? MAX_COLUMNS));
  const paint = painter(cli, cli.stdout);
  const program = `exec-server ${command.name}`;
  const paragraph = (text: string, indent = INDENT) => wrap(text, columns, indent);
  const entry = (term: string, text: string) =>
    `${" ".repeat(INDENT)}${paint("bold", term)}\n${paragraph(text, 2 * INDENT)}`;
  const section = (title: string, parts: readonly string[], between = "\n") =>
    parts.length === 0 ? [] : [`${paint("bold", title)}\n${parts.join(between)}`];
  return [
    ...section("NAME", [paragraph(`${program} - ${command.summary}`)]),
    ...section("SYNOPSIS", command.synopsis.map((form) => paragraph(`${program} ${form}`.trimEnd()))),
    ...section("DESCRIPTION", command.description.map((text) => paragraph(text)), "\n\n"),
    ...section("OPERANDS", command.operands.map(({ name, help }) => entry(name, help)), "\n\n"),
    ...section(
      "OPTIONS",
      [...command.options, HELP_OPTION].map((option) => entry(optionForm(option), optionHelp(option))),
      "\n\n",
    ),
    ...section("EXIT STATUS", command.exitStatus.map(([code, text]) => entry(code, text))),
    ...section(
      "ENVIRONMENT",
      [...command.environment ?? [], ...COMMON_ENVIRONMENT].map(([name, text]) => entry(name, text)),
      "\n\n",
    ),
    ...section(
      "EXAMPLES",
      command.examples.map(([line, text]) =>
        `${paragraph(text)}\n${" ".repeat(2 * INDENT)}${paint("bold", `exec-server ${line}`)}`
      ),
      "\n\n",
    ),
  ].map((text) => text + "\n").join("\n");
}

/** `-f, --follow` or `--cwd DIR`. */
export function optionForm({ name, short, value }: CommandOption): string {
  return `${short === undefined ? "" : `${short}, `}${name}${value === undefined ? "" : ` ${value}`}`;
}

function optionHelp({ help, choices, repeatable }: CommandOption): string {
  const notes = [
    ...(choices === undefined ? [] : [`One of: ${choices.join(", ")}.`]),
    ...(repeatable === true ? ["May be given more than once."] : []),
  ];
  return [help, ...notes].join(" ");
}

/** Breaks a text at blanks. A word that is too long stands alone on its line. */
function wrap(text: string, columns: number, indent: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line += (line === "" ? "" : " ") + word;
  }
  return [...lines, line].map((line) => " ".repeat(indent) + line).join("\n");
}
