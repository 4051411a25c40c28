import { ClientError } from "../../client/client_error.ts";
import type { ExecProcess } from "../../client/process.ts";
import type { Cli, CliSignal } from "../command.ts";
import { aside, hint, say } from "../say.ts";
import { LINK_LOST_CODE } from "./ending.ts";

/** Signals that go to the program by name, each time that we get them. */
const PASSED_ON = ["SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** 128 + number, as a shell has it for who leaves because of a signal. */
const SIGINT_CODE = 130;

export interface SignalOptions {
  readonly cli: Cli;
  /** Whether the server passes on any signal by name. */
  readonly byName: boolean;
  /** Whether the program runs on a terminal: it then hears of our end what it hears when a window is closed. */
  readonly tty: boolean;
  /** Whether the program can be reached just now. */
  isLinked(): boolean;
  /** Called when the user wants out, and the program does not end or cannot be reached. */
  leave(code: number): void;
}

/**
 * Passes our signals on to a program. Ctrl-C is SIGINT the first time, then SIGTERM, then SIGKILL, and after that we leave.
 * While the link is lost any of them makes us leave. A server that knows no names gets SIGKILL for whatever else than SIGINT: better than a program that nobody can end.
 */
export class SignalForwarder implements Disposable {
  /** What the program was sent, or asked to be sent. */
  readonly asked = new Set<string>();
  readonly #process: ExecProcess;
  readonly #options: SignalOptions;
  readonly #listeners: Disposable[];
  #interrupts = 0;

  constructor(process: ExecProcess, options: SignalOptions) {
    [this.#process, this.#options] = [process, options];
    const { cli } = options;
    this.#listeners = [
      cli.onSignal("SIGINT", () => this.#interrupt()),
      ...PASSED_ON.map((name) => cli.onSignal(name, () => this.#passOn(name))),
    ];
  }

  [Symbol.dispose](): void {
    for (const listener of this.#listeners) listener[Symbol.dispose]();
  }

  #interrupt(): void {
    const { cli, byName, isLinked, leave } = this.#options;
    if (!isLinked()) return leave(LINK_LOST_CODE);
    const ladder = byName ? ["SIGINT", "SIGTERM", "SIGKILL"] : ["SIGINT", "SIGKILL"];
    const signal = ladder[this.#interrupts++];
    if (signal === undefined) return leave(SIGINT_CODE);
    const next = ladder[this.#interrupts];
    void this.#send(signal);
    aside(hint(cli, `${signal} was sent; Ctrl-C again ${next === undefined ? "leaves" : `sends ${next}`}`));
  }

  #passOn(name: CliSignal): void {
    const { cli, byName, tty, isLinked, leave } = this.#options;
    if (!isLinked()) return leave(LINK_LOST_CODE);
    // Shells on a terminal ignore SIGTERM.
    if (byName) return void this.#send(tty && name === "SIGTERM" ? "SIGHUP" : name);
    aside(say(cli, `this server cannot pass on ${name}, so the program is killed`));
    void this.#send("SIGKILL");
  }

  async #send(signal: string): Promise<void> {
    this.asked.add(signal);
    try {
      if (signal === "SIGINT") await this.#process.interrupt();
      else if (signal === "SIGKILL") await this.#process.terminate();
      else await this.#process.signal(signal);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      // The end of the program, or of the link, is told where the output is copied.
      aside(say(this.#options.cli, `${signal} could not be sent: ${error.message}`));
    }
  }
}
