import { waitingClock } from "../clock.ts";
import { type Cli, type CliSignal, type Input, type Output, ReaderGoneError } from "./command.ts";
import { localProgram } from "./local_program.ts";

/** As much as a pipe holds. */
const READ_BYTES = 64 * 1024;

/**
 * The world as it is: this process and its terminal.
 *
 * @param mainModule The URL of `main.ts`, for starting ourselves again when we are not compiled.
 * @param openLog See {@linkcode Cli}.
 */
export function denoCli(mainModule: string, openLog: Cli["openLog"]): Cli {
  const raw = new RawMode();
  return {
    stdin: denoInput(),
    stdout: denoOutput(Deno.stdout, "standard output"),
    stderr: denoOutput(Deno.stderr, "standard error"),
    openLog,
    env: (name) => Deno.env.get(name),
    cwd: () => Deno.cwd(),
    clock: waitingClock,
    time: () => Date.now(),
    self: Deno.build.standalone
      ? [unlikeExecPath(Deno.execPath())]
      : [Deno.execPath(), "run", "--quiet", "--allow-all", mainModule],
    onSignal,
    onFault,
    terminalSize,
    rawMode: () => raw.enter(),
    get isRaw() {
      return raw.isOn;
    },
  };
}

/**
 * Deno's node:child_process takes the path of the running executable for Node.js and rewrites the arguments accordingly,
 * also when that is a compiled program. The same path in other words is left alone.
 */
function unlikeExecPath(path: string): string {
  const separator = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return `${path.slice(0, separator + 1)}.${path.slice(separator)}`;
}

function denoInput(): Input {
  return {
    isTerminal: Deno.stdin.isTerminal(),
    async read() {
      const buffer = new Uint8Array(READ_BYTES);
      try {
        const length = await Deno.stdin.read(buffer);
        return length === null ? null : buffer.subarray(0, length);
      } catch (error) {
        throw inWords("cannot read standard input", error);
      }
    },
  };
}

function denoOutput(file: typeof Deno.stdout | typeof Deno.stderr, name: string): Output {
  let before: Promise<void> = Promise.resolve();
  const write = async (data: string | Uint8Array): Promise<void> => {
    let rest = typeof data === "string" ? new TextEncoder().encode(data) : data;
    try {
      while (rest.length > 0) rest = rest.subarray(await file.write(rest));
    } catch (error) {
      throw isReaderGone(error) ? new ReaderGoneError({ cause: error }) : inWords(`cannot write to ${name}`, error);
    }
  };
  return {
    isTerminal: file.isTerminal(),
    write(data) {
      const turn = before.then(() => write(data));
      // Whoever wrote before hears of its failure by itself.
      before = turn.catch(() => {});
      return turn;
    },
  };
}

/** The system's own words do not say of what they speak. */
function inWords(what: string, cause: unknown): Error {
  return new Error(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}

/** EIO: the window of a terminal was closed. */
function isReaderGone(error: unknown): boolean {
  return error instanceof Deno.errors.BrokenPipe || (error as { code?: unknown }).code === "EIO";
}

function onSignal(signal: CliSignal, act: () => void): Disposable {
  // Windows has other signals; Ctrl-C is the one in common.
  if (Deno.build.os === "windows" && signal !== "SIGINT" && signal !== "SIGHUP") return { [Symbol.dispose]() {} };
  Deno.addSignalListener(signal, act);
  return { [Symbol.dispose]: () => Deno.removeSignalListener(signal, act) };
}

function onFault(act: (fault: unknown) => void): Disposable {
  const thrown = (event: ErrorEvent) => {
    event.preventDefault();
    act(event.error);
  };
  const rejected = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    act(event.reason);
  };
  globalThis.addEventListener("error", thrown);
  globalThis.addEventListener("unhandledrejection", rejected);
  return {
    [Symbol.dispose]() {
      globalThis.removeEventListener("error", thrown);
      globalThis.removeEventListener("unhandledrejection", rejected);
    },
  };
}

function terminalSize() {
  try {
    const { rows, columns } = Deno.consoleSize();
    // A terminal that nobody told its size says 0.
    return rows > 0 && columns > 0 ? { rows, columns } : undefined;
  } catch {
    return undefined; // none of our descriptors is a terminal
  }
}

/** Deno puts the terminal back by itself when the program ends, other than by SIGKILL; here only on leaving a scope. */
class RawMode {
  isOn = false;

  async enter(): Promise<Disposable> {
    Deno.stdin.setRaw(true);
    this.isOn = true;
    await leaveOutputAlone();
    // Someone stopped us and the shell took the terminal; it is ours again.
    const again = onSignal("SIGCONT", () => {
      Deno.stdin.setRaw(true);
      void leaveOutputAlone();
    });
    return {
      [Symbol.dispose]: () => {
        again[Symbol.dispose]();
        Deno.stdin.setRaw(false);
        this.isOn = false;
      },
    };
  }
}

/**
 * Deno's raw mode still lets the terminal turn every line feed into carriage return and line feed. Programs on a far
 * terminal in raw mode use the bare line feed to go down and stay in their column.
 */
async function leaveOutputAlone(): Promise<void> {
  if (Deno.build.os === "windows") return;
  try {
    await localProgram("stty", { args: ["-opost"], stdin: "inherit", stdout: "null", stderr: "null" }).output();
  } catch (error) {
    // Without stty most programs look right all the same.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
