import type { Clock } from "../clock.ts";
import { byteSize } from "./byte_size.ts";
import { aside, printable } from "./say.ts";
import type { Cli } from "./command.ts";
import { beginningOf, endOf } from "./text_width.ts";

/** Hears how far a copy has come. */
export interface Progress {
  /** A file or tree begins. @param total Its bytes; undefined: not known. */
  begin(label: string, total?: number): void;
  /** Bytes that are through, or were there from an earlier attempt. */
  add(bytes: number, alreadyThere?: boolean): void;
  /** One entry of a tree is through. */
  entry(): void;
  /** Takes the bar away; what comes next may write. */
  end(): void;
}

export const noProgress: Progress = { begin() {}, add() {}, entry() {}, end() {} };

/** Between two pictures; more often is more than eyes can follow. */
const REDRAW_MS = 100;
/** A copy that takes less shows no bar. */
const PATIENCE_MS = 400;
const BAR_COLUMNS = 20;
const DEFAULT_COLUMNS = 80;
/** Of a name, where there is no room for all. */
const MIN_LABEL_COLUMNS = 8;

/** A bar on stderr where that is a terminal; elsewhere nothing. */
export function terminalProgress(cli: Cli): Progress {
  return cli.stderr.isTerminal ? new Bar(cli) : noProgress;
}

class Bar implements Progress {
  readonly #cli: Cli;
  readonly #clock: Clock;
  #label = "";
  #total: number | undefined;
  #bytes = 0;
  #alreadyThere = 0;
  #entries = 0;
  #startedAt = 0;
  #drawnAt = 0;
  #isShown = false;

  constructor(cli: Cli) {
    [this.#cli, this.#clock] = [cli, cli.clock];
  }

  begin(label: string, total?: number): void {
    this.end();
    [this.#label, this.#total] = [printable(this.#cli.stderr, label), total];
    [this.#bytes, this.#alreadyThere, this.#entries] = [0, 0, 0];
    this.#startedAt = this.#clock.now();
    this.#drawnAt = this.#startedAt + PATIENCE_MS - REDRAW_MS;
  }

  add(bytes: number, alreadyThere = false): void {
    this.#bytes += bytes;
    if (alreadyThere) this.#alreadyThere += bytes;
    this.#redraw();
  }

  entry(): void {
    this.#entries++;
    this.#redraw();
  }

  end(): void {
    if (this.#isShown) this.#write("\r\x1b[K");
    this.#isShown = false;
  }

  #redraw(): void {
    const now = this.#clock.now();
    if (now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#isShown = true;
    const perSecond = (this.#bytes - this.#alreadyThere) / ((now - this.#startedAt) / 1000);
    const figures = this.#total === undefined
      ? `${byteSize(this.#bytes)}  ${this.#entries} entries  ${byteSize(perSecond)}/s`
      : `${bar(this.#bytes, this.#total)}  ${byteSize(this.#bytes)}  ${byteSize(perSecond)}/s  ${
        timeLeft((this.#total - this.#bytes) / perSecond)
      }`;
    const columns = (this.#cli.terminalSize()?.columns ?? DEFAULT_COLUMNS) - 1;
    const label = endOf(this.#label, Math.max(MIN_LABEL_COLUMNS, columns - figures.length - 2));
    this.#write(`\r${beginningOf(`${label}  ${figures}`, columns)}\x1b[K`);
  }

  #write(text: string): void {
    aside(this.#cli.stderr.write(text));
  }
}

function bar(bytes: number, total: number): string {
  const share = total === 0 ? 1 : Math.min(1, bytes / total);
  const full = Math.floor(share * BAR_COLUMNS);
  return `[${"#".repeat(full)}${"-".repeat(BAR_COLUMNS - full)}] ${String(Math.floor(share * 100)).padStart(3)}%`;
}

/** `0:07`, `12:34`, `1:02:03`; nothing sensible is `-:--`. */
function timeLeft(seconds: number): string {
  if (!(seconds >= 0 && seconds < 360_000)) return "-:--";
  const whole = Math.ceil(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const pad = (value: number) => String(value).padStart(2, "0");
  return h > 0 ? `${h}:${pad(m)}:${pad(s)}` : `${m}:${pad(s)}`;
}
