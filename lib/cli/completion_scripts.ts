import type { Command, CommandOption } from "./command.ts";
import { HELP_OPTION } from "./parse_command.ts";
import { SERVER_OPTIONS } from "./serve_options.ts";

/** Names, summaries and help texts are ours; still, what a shell would act on is taken out or quoted. */

/** The server's own options; their explanations are prose, and left to its help. */
const ofServer: readonly CommandOption[] = SERVER_OPTIONS.map((option) => ({
  ...option,
  help: "",
  completion: option.value === "<PATH>" ? "file" : "none",
}));

export function bashCompletions(commands: readonly Command[]): string {
  const cases = commands.map((command) => {
    const options = optionsOf(command);
    return `    ${command.name})
      case "$previous" in
${bashValues(options)}
        *)
          if [[ $current == -* ]]; then
            COMPREPLY=($(compgen -W "${optionNames(options)}" -- "$current"))
          else
            ${bashOperands(command, commands)}
          fi;;
      esac;;`;
  });
  return `# Completions of exec-server for bash.
_exec_server_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}
_exec_server() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")} ${optionNames(ofServer)}" -- "$current"))
    return
  fi
  if [[ \${COMP_WORDS[1]} == -* ]]; then
      case "$previous" in
${bashValues(ofServer)}
        *) COMPREPLY=($(compgen -W "${optionNames(ofServer)}" -- "$current"));;
      esac
    return
  fi
  local word
  for word in "\${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
    if [[ $word == -- ]]; then
      _exec_server_files -f
      return
    fi
  done
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
}
complete -F _exec_server exec-server
`;
}

/** With what else they are called. */
function optionNames(options: readonly CommandOption[]): string {
  return options.flatMap(({ name, short }) => [name, ...(short === undefined ? [] : [short])]).join(" ");
}

function bashValues(options: readonly CommandOption[]): string {
  const lines = options.filter(({ value }) => value !== undefined).map((option) =>
    `        ${[option.name, ...(option.short === undefined ? [] : [option.short])].join("|")}) ${bashValue(option)};;`
  );
  return lines.join("\n");
}

function bashValue({ choices, completion }: CommandOption): string {
  if (choices !== undefined) return `COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$current"))`;
  if (completion === "file") return "_exec_server_files -f";
  if (completion === "directory") return "_exec_server_files -d";
  return "COMPREPLY=()";
}

function bashOperands(command: Command, commands: readonly Command[]): string {
  const words = operandWords(command, commands);
  if (words.length > 0) return `COMPREPLY=($(compgen -W "${words.join(" ")}" -- "$current"))`;
  return command.operands.some(({ completion }) => completion === "file") ? "_exec_server_files -f" : "COMPREPLY=()";
}

export function zshCompletions(commands: readonly Command[]): string {
  const list = commands.map(({ name, summary }) => `    ${zshQuote(`${name}:${summary}`)}`).join("\n");
  const cases = commands.map((command) => {
    const specs = optionsOf(command).flatMap((option) => zshOption(option));
    const words = operandWords(command, commands);
    const files = command.operands.some(({ completion }) => completion === "file");
    if (words.length > 0) specs.push(zshQuote(`*:operand:(${words.join(" ")})`));
    else if (files) specs.push(zshQuote("*:file:_files"));
    return `    ${command.name}) _arguments -s ${specs.join(" ")};;`;
  });
  return `#compdef exec-server
# Completions of exec-server for zsh.
_exec_server() {
  local -a commands
  commands=(
${list}
  )
  if [[ $words[2] == -* ]]; then
    _arguments -s ${ofServer.flatMap(zshOption).join(" ")}
    return
  fi
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${cases.join("\n")}
  esac
}
if [[ $funcstack[1] == _exec_server ]]; then
  _exec_server "$@"
else
  compdef _exec_server exec-server
fi
`;
}

function zshOption({ name, short, value, help, choices, completion, repeatable }: CommandOption): string[] {
  const text = help.split(/\.(?: |$)/)[0]!.replaceAll(/[[\]:]/g, " ");
  const action = choices !== undefined ? `(${choices.join(" ")})` : ZSH_ACTIONS[completion ?? "none"];
  const argument = value === undefined ? "" : `:${value.replaceAll(/[<>]/g, "")}:${action}`;
  const explanation = text === "" ? "" : `[${text}]`;
  const star = repeatable === true ? "*" : "";
  return [name, ...(short === undefined ? [] : [short])].map((form) =>
    zshQuote(`${star}${form}${explanation}${argument}`)
  );
}

const ZSH_ACTIONS = { file: "_files", directory: "_files -/", none: " " } as const;

function zshQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** An option first: then it is the server. */
const FISH_IS_SERVER = `function __exec_server_is_server
  set -l words (commandline -opc)
  test (count $words) -lt 2; or string match -q -- '-*' $words[2]
end`;

export function fishCompletions(commands: readonly Command[]): string {
  const lines = ["# Completions of exec-server for fish.", FISH_IS_SERVER, "complete -c exec-server -f"];
  for (const option of ofServer) lines.push(`complete -c exec-server -n __exec_server_is_server ${fishOption(option)}`);
  for (const command of commands) {
    lines.push(
      `complete -c exec-server -n __fish_use_subcommand -a ${command.name} -d ${fishQuote(command.summary)}`,
    );
    const when = `-n ${fishQuote(`__fish_seen_subcommand_from ${command.name}`)}`;
    for (const option of optionsOf(command)) lines.push(`complete -c exec-server ${when} ${fishOption(option)}`);
    const words = operandWords(command, commands);
    if (words.length > 0) lines.push(`complete -c exec-server ${when} -a ${fishQuote(words.join(" "))}`);
    else if (command.operands.some(({ completion }) => completion === "file")) {
      lines.push(`complete -c exec-server ${when} -F`);
    }
  }
  return lines.join("\n") + "\n";
}

function fishOption({ name, short, value, help, choices, completion }: CommandOption): string {
  const parts = [`-l ${name.slice(2)}`];
  if (short !== undefined) parts.push(`-s ${short.slice(1)}`);
  parts.push(`-d ${fishQuote(help.split(/\.(?: |$)/)[0]!)}`);
  if (value !== undefined) parts.push("-r");
  if (choices !== undefined) parts.push(`-a ${fishQuote(choices.join(" "))}`);
  if (completion === "file") parts.push("-F");
  if (completion === "directory") parts.push(`-a ${fishQuote("(__fish_complete_directories)")}`);
  return parts.join(" ");
}

function fishQuote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function optionsOf(command: Command): readonly CommandOption[] {
  return [...command.options, HELP_OPTION];
}

/** What the first operand can be, where that is known. */
function operandWords({ name }: Command, commands: readonly Command[]): readonly string[] {
  if (name === "help") return commands.map((command) => command.name);
  return name === "completions" ? ["bash", "zsh", "fish"] : [];
}
