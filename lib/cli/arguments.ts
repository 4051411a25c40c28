import { mostSimilar } from "./similar.ts";
import { UsageError } from "./usage_error.ts";

/** One option of a command. */
export interface OptionSpec {
  /** With its dashes. */
  readonly name: string;
  /** How usage lines call the value, e.g. `<URL>`; without one the option is a flag. */
  readonly value?: string;
  /** One dash and a letter that mean the same. */
  readonly short?: string;
  /** The only values there are. */
  readonly choices?: readonly string[];
  /** Whether an empty value counts as a missing one. */
  readonly notEmpty?: boolean;
  /** What is wrong with a value; undefined: nothing. */
  readonly check?: (value: string) => string | undefined;
  /** Whether it can be given several times, see {@linkcode ArgumentReader.all}. */
  readonly repeatable?: boolean;
  /** Seeing it ends the reading of the command line. */
  readonly final?: boolean;
  /** Options without which it makes no sense, and what they need themselves. See `argument_rules.ts`. */
  readonly needs?: readonly string[];
  /** The same, where the option has this value. */
  readonly needsIf?: { readonly value: string; readonly name: string };
  /** Options that cannot be given together with it; it is enough if one of the two says so. */
  readonly excludes?: readonly string[];
}

/** What else a command line may or must hold. */
export interface ReaderOptions {
  /** Options that must be given, in the order of usage lines. */
  readonly required?: readonly string[];
  /** A word that, where an option could stand, ends the reading: what follows is a command line of its own. */
  readonly command?: string;
}

/** Options in the order in which they were given, with their (last) values; a flag's is empty. */
export type Arguments = ReadonlyMap<string, string>;

/** Reads command lines in the manner of clap, whose errors it imitates to the letter. */
export class ArgumentReader {
  readonly specs: readonly OptionSpec[];
  readonly required: readonly string[];
  readonly #program: string;
  readonly #command: string | undefined;
  readonly #read = new Map<string, string>();
  readonly #repeated = new Map<string, string[]>();
  /** The option that was read last; its value is judged when it is known to be complete. */
  #pending: { spec: OptionSpec; value: string | undefined } | undefined;

  /** What follows the command's word, if that was met. */
  commandArguments: readonly string[] | undefined;

  constructor(program: string, specs: readonly OptionSpec[], { required = [], command }: ReaderOptions = {}) {
    [this.#program, this.specs, this.required, this.#command] = [program, specs, required, command];
  }

  /**
   * Reads options and judges each by itself.
   *
   * @throws {UsageError} With exit code 2.
   */
  read(argv: readonly string[]): Arguments {
    for (const [i, arg] of argv.entries()) {
      if (arg === "--") {
        if (argv[i + 1] !== undefined) this.#unexpected(argv[i + 1]!);
        break;
      }
      if (arg.startsWith("--")) this.#readLong(arg);
      else if (arg.startsWith("-") && arg !== "-") this.#readShort(arg);
      else if (this.#pending?.spec.value !== undefined && this.#pending.value === undefined) this.#pending.value = arg;
      else if (arg === this.#command) {
        this.commandArguments = argv.slice(i + 1);
        break;
      } else this.#unexpected(arg);
      if (this.#pending?.spec.final === true) break;
    }
    this.#settle();
    return this.#read;
  }

  /** The values of an option that can be given several times, in their order. */
  all(name: string): readonly string[] {
    return this.#repeated.get(name) ?? [];
  }

  /** `--listen <URL>`, as usage lines write it. */
  form(name: string): string {
    const value = this.specs.find((spec) => spec.name === name)?.value;
    return value === undefined ? name : `${name} ${value}`;
  }

  /** An error with a usage line that lists what must be given and `names`, or just says `[OPTIONS]` instead of them. */
  error(message: string, names: Iterable<string>): UsageError {
    const listed = [...names];
    const forms = [...new Set([...this.required, ...listed])].map((name) => this.form(name));
    const words = [this.#program, ...(listed.length === 0 ? ["[OPTIONS]"] : []), ...forms];
    return this.#error(`${message}\n\nUsage: ${words.join(" ")}`);
  }

  /** Judges a value, whether it came from the command line or the environment. */
  check(spec: OptionSpec, value: string | undefined): string {
    const { choices } = spec;
    const possible = choices === undefined ? "" : `\n  [possible values: ${choices.join(", ")}]`;
    const form = this.form(spec.name);
    if (value === undefined || (value === "" && (spec.notEmpty === true || choices !== undefined))) {
      throw this.#error(`a value is required for '${form}' but none was supplied${possible}`);
    }
    if (choices !== undefined && !choices.includes(value)) {
      const similar = mostSimilar(value, choices);
      const tip = similar === undefined ? "" : `\n\n  tip: a similar value exists: '${similar}'`;
      throw this.#error(`invalid value '${value}' for '${form}'${possible}${tip}`);
    }
    const flaw = spec.check?.(value);
    if (flaw !== undefined) throw this.#error(`invalid value '${value}' for '${form}': ${flaw}`);
    return value;
  }

  #readLong(arg: string): void {
    const equals = arg.indexOf("=");
    const name = equals < 0 ? arg : arg.slice(0, equals);
    const spec = this.specs.find((spec) => spec.name === name);
    if (spec === undefined) throw this.#unknown(name);
    this.#settle();
    const value = equals < 0 ? undefined : arg.slice(equals + 1);
    if (spec.value === undefined && value !== undefined) {
      throw this.error(`unexpected value '${value}' for '${name}' found; no more were expected`, [
        ...this.#read.keys(),
        name,
      ]);
    }
    this.#pending = { spec, value };
  }

  /** Short options are flags, and the first letter decides: every one of them is final. */
  #readShort(arg: string): void {
    const short = "-" + String.fromCodePoint(arg.codePointAt(1)!);
    const spec = this.specs.find((spec) => spec.short === short);
    if (spec === undefined) this.#unexpected(short);
    this.#settle();
    this.#pending = { spec, value: undefined };
  }

  /** The pending option is complete. */
  #settle(): void {
    if (this.#pending === undefined) return;
    const { spec, value } = this.#pending;
    this.#pending = undefined;
    const checked = spec.value === undefined ? "" : this.check(spec, value);
    if (spec.repeatable === true) {
      this.#repeated.set(spec.name, [...this.all(spec.name), checked]);
    } else if (this.#read.has(spec.name)) {
      throw this.error(`the argument '${this.form(spec.name)}' cannot be used multiple times`, []);
    }
    this.#read.set(spec.name, checked);
  }

  #unknown(name: string): UsageError {
    const similar = mostSimilar(name.slice(2), this.specs.map((spec) => spec.name.slice(2)));
    if (similar === undefined) this.#unexpected(name, this.#given());
    const message = `unexpected argument '${name}' found\n\n  tip: a similar argument exists: '--${similar}'`;
    return this.error(message, [...this.#given(), `--${similar}`]);
  }

  /** @param given Only after an unknown option the usage line shows what was given. */
  #unexpected(arg: string, given: readonly string[] = []): never {
    throw this.error(`unexpected argument '${arg}' found`, given);
  }

  #given(): string[] {
    const { spec, value } = this.#pending ?? {};
    const complete = spec !== undefined && (spec.value === undefined || value !== undefined);
    return complete ? [...this.#read.keys(), spec.name] : [...this.#read.keys()];
  }

  #error(message: string): UsageError {
    return new UsageError(2, `error: ${message}\n\nFor more information, try '--help'.`);
  }
}
