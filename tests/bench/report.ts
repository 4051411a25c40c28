/** The figures for people, for the README and for programs. */
import { VERSION, WIRE_VERSION } from "../../lib/version.ts";
import { moreIsBetter } from "./rows.ts";
import type { Line } from "./samples.ts";

/** Where and when it was measured; figures without it mean nothing. */
export interface Circumstances {
  readonly date: string;
  readonly cpu: string;
  readonly cores: number;
  readonly kernel: string;
  readonly deno: string;
  readonly version: string;
  readonly reference: string | null;
}

export function circumstances(withReference: boolean): Circumstances {
  const model = Deno.readTextFileSync("/proc/cpuinfo").match(/^(?:model name|Hardware)\s*:\s*(.*)$/m)?.[1];
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: model ?? Deno.build.arch,
    cores: navigator.hardwareConcurrency,
    kernel: `Linux ${Deno.osRelease()}`,
    deno: Deno.version.deno,
    version: VERSION,
    reference: withReference ? WIRE_VERSION : null,
  };
}

export function describe({ date, cpu, cores, kernel, deno, version, reference }: Circumstances): string {
  const against = reference === null ? "no reference" : `reference ${reference}`;
  return `${date}, ${cpu}, ${cores} cores, ${kernel}; exec-server ${version} on Deno ${deno}, ${against}`;
}

const HEADINGS = ["", "over", "ours", "reference", "ours/reference", "target", ""];

/** A table of GitHub's Markdown with the circumstances below it. */
export function markdown(lines: readonly Line[], where: Circumstances): string {
  const rows = [HEADINGS, ["---", "---", "--:", "--:", "--:", "--:", "---"], ...lines.map(cells)];
  return `${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}\n\n${describe(where)}.\n`;
}

/** The same for a terminal. */
export function plain(lines: readonly Line[], where: Circumstances): string {
  const rows = [HEADINGS, ...lines.map(cells)].map((row) => row.map((cell) => cell.replaceAll("`", "")));
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const table = rows.map((row) => row.map((cell, column) => pad(cell, widths[column]!, column)).join("  ").trimEnd());
  return `${describe(where)}\n\n${table.join("\n")}\n`;
}

export function json(lines: readonly Line[], where: Circumstances): string {
  const rows = lines.map(({ row, ...rest }) => ({ id: row.id, unit: row.unit, quantile: row.quantile, ...rest }));
  return JSON.stringify({ circumstances: where, rows }, null, 2) + "\n";
}

function cells({ row, carrier, value, ratio, target, limit, met }: Line): string[] {
  const sign = moreIsBetter(row.unit) ? "≥" : "≤";
  return [
    row.title,
    carrier === "ws" ? "WebSocket" : carrier,
    figure(value.ours, row.unit),
    figure(value.reference, row.unit),
    ratio === null ? "–" : ratio.toFixed(2),
    limit !== null ? `${sign} ${limit} ${row.unit}` : target === null ? "–" : `${sign} ${target}`,
    met === null ? "" : met ? "met" : "**missed**",
  ];
}

function figure(value: number | null, unit: string): string {
  if (value === null) return "–";
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
}

/** The first two columns are words, the others figures. */
function pad(cell: string, width: number, column: number): string {
  return column < 2 ? cell.padEnd(width) : cell.padStart(width);
}
