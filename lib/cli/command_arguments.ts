import { UsageError } from "./usage_error.ts";

/** What a command line says, once it has been found well-formed. */
export class CommandArguments {
  readonly operands: readonly string[];
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]>, operands: readonly string[]) {
    [this.#values, this.operands] = [values, operands];
  }

  /** Whether an option was given, by its long name with the dashes. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  get(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  /** All values of a repeatable option, in the order in which they were given. */
  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }
}

/** What of a command a refusal shows. */
interface Usage {
  readonly name: string;
  readonly synopsis: readonly string[];
}

/** A command line that is well-formed and still makes no sense. */
export function usageError(command: Usage, sentence: string): UsageError {
  const lines = command.synopsis.map((form) => `exec-server ${command.name} ${form}`.trimEnd());
  const usage = lines.join("\n       ");
  const help = `For more information, try 'exec-server ${command.name} --help'.`;
  return new UsageError(2, `error: ${sentence}\n\nUsage: ${usage}\n\n${help}`);
}
