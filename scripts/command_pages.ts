/** Writes `docs/commands/*.md`, the pages of the commands, from the table that `--help` is made of. */

import type { Command, CommandOption } from "../lib/cli/command.ts";
import { HELP_OPTION } from "../lib/cli/parse_command.ts";
import { loadCommands } from "../lib/cli/commands.ts";
import { optionForm } from "../lib/cli/help_page.ts";

const FOLDER = new URL("../docs/commands/", import.meta.url);

/** The page of one command as Markdown. */
export function commandPage(command: Command): string {
  const program = `exec-server ${command.name}`;
  return [
    `# ${program}`,
    text(command.summary[0]!.toUpperCase() + command.summary.slice(1)) + ".",
    code(command.synopsis.map((form) => `${program} ${form}`.trimEnd())),
    ...command.description.map(text),
    ...list("Operands", command.operands.map(({ name, help }) => [name, help])),
    ...list("Options", [...command.options, HELP_OPTION].map((option) => [optionForm(option), optionText(option)])),
    ...list("Exit status", command.exitStatus),
    ...list("Environment", command.environment ?? []),
    "## Examples",
    ...command.examples.flatMap(([line, what]) => [text(what), code([`exec-server ${line}`])]),
  ].join("\n\n") + "\n";
}

/** File name → content of every page, the index included. */
export async function commandPages(): Promise<ReadonlyMap<string, string>> {
  const commands = await loadCommands();
  const index = [
    "# Commands",
    "Made from the same table as `exec-server COMMAND --help`.",
    commands.map(({ name, summary }) => `- [${name}](${name}.md): ${text(summary)}`).join("\n"),
  ].join("\n\n") + "\n";
  return new Map([
    ["README.md", index],
    ...commands.map((command) => [`${command.name}.md`, commandPage(command)] as const),
  ]);
}

function list(title: string, entries: readonly (readonly [string, string])[]): string[] {
  if (entries.length === 0) return [];
  return [`## ${title}`, entries.map(([term, meaning]) => `- \`${term}\`: ${text(meaning)}`).join("\n")];
}

function optionText({ help, choices, repeatable }: CommandOption): string {
  const oneOf = choices === undefined ? "" : ` One of: ${choices.join(", ")}.`;
  return help + oneOf + (repeatable === true ? " May be given more than once." : "");
}

function code(lines: readonly string[]): string {
  return ["```sh", ...lines, "```"].join("\n");
}

/** What means something in Markdown stands for itself. */
function text(plain: string): string {
  return plain.replaceAll(/[\\`*_<>[\]|#~]/g, "\\$&");
}

if (import.meta.main) {
  await Deno.mkdir(FOLDER, { recursive: true });
  for (const [name, page] of await commandPages()) await Deno.writeTextFile(new URL(name, FOLDER), page);
}
