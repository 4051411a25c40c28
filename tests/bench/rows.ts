import { FILE_ROWS } from "./file_rows.ts";
import { RELAY_ROWS } from "./relay_rows.ts";
import { SANDBOX_ROWS } from "./sandbox_rows.ts";

/** What is measured, and how the ratio of our figure to the reference's shall turn out. */

export type Carrier = LocalCarrier | "relay";
/** Between two programs of this machine, and nobody else. */
export type LocalCarrier = "ws" | "stdio";
/** The server that is judged, and the one it is compared with. */
export type Side = "ours" | "reference";

export interface Row {
  readonly id: string;
  readonly title: string;
  readonly unit: "ms" | "MB/s" | "/s" | "MB" | "KB";
  /** The value that stands for all samples: 0.5 is the median. */
  readonly quantile: 0.5 | 0.9;
  /**
   * Bound of ours/reference for each carrier that has one: an upper bound for times and memory, a lower one for MB/s and the like.
   * No bound where the reference's missing TCP_NODELAY makes it wait for our delayed acknowledgement (about 44 ms).
   */
  readonly target: Readonly<Partial<Record<Carrier, number>>>;
  /** Bound of our own figure, in the row's unit, where what matters is not how the reference does. */
  readonly limit?: number;
}

const MEDIAN = 0.5;

const PROCESS_ROWS = [
  { id: "start-url", title: "start to URL, `deno run -A main.ts`", unit: "ms", quantile: MEDIAN, target: { ws: 2.6 } },
  { id: "start-url-task", title: "start to URL, `deno task serve`", unit: "ms", quantile: MEDIAN, target: {} },
  { id: "start-url-executable", title: "start to URL, `dist/exec-server`", unit: "ms", quantile: MEDIAN, target: {} },
  {
    id: "start-version",
    title: "start and end, `deno run -A main.ts --version`",
    unit: "ms",
    quantile: MEDIAN,
    target: {},
  },
  {
    id: "start-version-executable",
    title: "start and end, `dist/exec-server --version`",
    unit: "ms",
    quantile: MEDIAN,
    target: {},
  },
  {
    id: "start-initialized",
    title: "start to initialized, `deno run -A main.ts`",
    unit: "ms",
    quantile: MEDIAN,
    target: {},
  },
  { id: "connect", title: "connect", unit: "ms", quantile: MEDIAN, target: { ws: 1.1 } },
  { id: "initialize", title: "initialize", unit: "ms", quantile: MEDIAN, target: { ws: 0.5, stdio: 0.5 } },
  { id: "first-answer", title: "first answer after the handshake", unit: "ms", quantile: MEDIAN, target: {} },
  {
    id: "start-response",
    title: "start → response, `true`",
    unit: "ms",
    quantile: MEDIAN,
    target: { ws: 0.15, stdio: 0.15 },
  },
  { id: "start-closed", title: "start → closed, `true`", unit: "ms", quantile: MEDIAN, target: { stdio: 0.5 } },
  {
    id: "start-16",
    title: "16 starts at once, until all closed, per program",
    unit: "ms",
    quantile: MEDIAN,
    target: { ws: 0.2, stdio: 0.2 },
  },
  { id: "echo-pipe", title: "write → echo, pipe", unit: "ms", quantile: MEDIAN, target: { stdio: 1.0 } },
  { id: "echo-terminal", title: "write → echo, terminal", unit: "ms", quantile: MEDIAN, target: { stdio: 1.0 } },
  { id: "pipe-200mb", title: "200 MB through pipes", unit: "MB/s", quantile: MEDIAN, target: { ws: 1.5, stdio: 1.5 } },
  {
    id: "terminal-40mb",
    title: "40 MB through a terminal",
    unit: "MB/s",
    quantile: MEDIAN,
    target: { ws: 1.0, stdio: 1.0 },
  },
  {
    id: "small-writes",
    title: "20 MB in writes of 64 bytes",
    unit: "MB/s",
    quantile: MEDIAN,
    target: { ws: 1.0, stdio: 1.0 },
  },
  {
    id: "second-client-p50",
    title: "a second client's request during 200 MB, median",
    unit: "ms",
    quantile: MEDIAN,
    target: {},
  },
  {
    id: "second-client-p90",
    title: "a second client's request during 200 MB, 90th percentile",
    unit: "ms",
    quantile: 0.9,
    target: { ws: 1.0 },
  },
  { id: "memory-idle", title: "resident memory, idle", unit: "MB", quantile: MEDIAN, target: { ws: 1.0, stdio: 1.0 } },
  {
    id: "memory-after",
    title: "resident memory, after the 240 MB",
    unit: "MB",
    quantile: MEDIAN,
    target: { ws: 1.1, stdio: 1.1 },
  },
] as const satisfies readonly Row[];

export const ROWS = [...PROCESS_ROWS, ...FILE_ROWS, ...SANDBOX_ROWS, ...RELAY_ROWS] as const satisfies readonly Row[];

export type RowId = typeof ROWS[number]["id"];

/** Whether a ratio, or our own figure, is within its bound. */
export function meets(row: Row, figure: number, bound: number): boolean {
  return moreIsBetter(row.unit) ? figure >= bound : figure <= bound;
}

export function moreIsBetter(unit: Row["unit"]): boolean {
  return unit.endsWith("/s");
}
