import { ArgumentReader } from "./arguments.ts";
import type { Command, CommandOption } from "./command.ts";
import { CommandArguments, usageError } from "./command_arguments.ts";
import { mostSimilar } from "./similar.ts";
import type { UsageError } from "./usage_error.ts";

/** Every command has it. */
export const HELP_OPTION: CommandOption = { name: "--help", short: "-h", help: "Show this page.", final: true };

/**
 * Reads the arguments of one command: long options (`--cwd DIR`, `--cwd=DIR`), short ones in clusters (`-it`, `-fVALUE`),
 * `--` and operands, in any order unless the command line of another program trails.
 *
 * @param argv Without the command's name.
 * @throws {UsageError} With exit code 2, naming the culprit.
 */
export function parseCommand(command: Command, argv: readonly string[]): CommandArguments {
  return new CommandParser(command).parse(argv);
}

class CommandParser {
  readonly #command: Command;
  readonly #options: readonly CommandOption[];
  readonly #judge: ArgumentReader;
  readonly #values = new Map<string, string[]>();
  readonly #operands: string[] = [];

  constructor(command: Command) {
    this.#command = command;
    this.#options = [...command.options, HELP_OPTION];
    this.#judge = new ArgumentReader(`exec-server ${command.name}`, this.#options);
  }

  parse(argv: readonly string[]): CommandArguments {
    const rest = [...argv];
    let optionsEnded = false;
    for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
      if (optionsEnded || arg === "-" || !arg.startsWith("-")) {
        this.#operands.push(arg);
        if (this.#command.trailing === true) optionsEnded = true;
      } else if (arg === "--") optionsEnded = true;
      else if (arg.startsWith("--")) this.#long(arg, rest);
      else this.#cluster(arg, rest);
      if (this.#values.has(HELP_OPTION.name)) return new CommandArguments(this.#values, []);
    }
    this.#countOperands();
    return new CommandArguments(this.#values, this.#operands);
  }

  #long(arg: string, rest: string[]): void {
    const equals = arg.indexOf("=");
    const name = equals < 0 ? arg : arg.slice(0, equals);
    const option = this.#options.find((option) => option.name === name);
    if (option === undefined) throw this.#unknown(name);
    const given = equals < 0 ? undefined : arg.slice(equals + 1);
    if (option.value !== undefined) return this.#set(option, given ?? rest.shift());
    if (given !== undefined) throw this.#error(`the option '${name}' takes no value, and '${given}' was given`);
    this.#set(option, "");
  }

  #cluster(arg: string, rest: string[]): void {
    const letters = [...arg.slice(1)];
    for (const [i, letter] of letters.entries()) {
      const option = this.#options.find((option) => option.short === `-${letter}`);
      if (option === undefined) throw this.#unknown(`-${letter}`);
      if (option.value !== undefined) {
        const attached = letters.slice(i + 1).join("");
        return this.#set(option, attached === "" ? rest.shift() : attached);
      }
      this.#set(option, "");
    }
  }

  #set(option: CommandOption, value: string | undefined): void {
    const checked = option.value === undefined ? "" : this.#judge.check(option, value);
    const values = this.#values.get(option.name) ?? [];
    // A flag that is said twice says the same twice.
    if (values.length > 0 && option.repeatable !== true && option.value !== undefined) {
      throw this.#error(`the argument '${this.#judge.form(option.name)}' cannot be used multiple times`);
    }
    this.#values.set(option.name, [...values, checked]);
  }

  #countOperands(): void {
    const { operands } = this.#command;
    const missing = operands.filter(({ optional }, i) => optional !== true && this.#operands[i] === undefined);
    if (missing.length > 0) {
      throw this.#error(`what is missing: ${missing.map(({ name }) => name).join(" ")}`);
    }
    if (operands.at(-1)?.repeated === true) return;
    const surplus = this.#operands[operands.length];
    if (surplus !== undefined) throw this.#error(`unexpected argument '${surplus}' found`);
  }

  #unknown(name: string): UsageError {
    const similar = mostSimilar(name.slice(2), this.#options.map((option) => option.name.slice(2)));
    const tip = similar === undefined ? "" : `\n\n  tip: a similar argument exists: '--${similar}'`;
    return this.#error(`unexpected argument '${name}' found${tip}`);
  }

  #error(sentence: string): UsageError {
    return usageError(this.#command, sentence);
  }
}
