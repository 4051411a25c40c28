/**
 * Recorded conversations: their file format, as far as the recordings in `transcripts/` and `codex_client/` use it. The
 * latter are what codex-cli 0.171.0 said to its own server, without its requests for files and configuration; generated
 * ids are replaced by fixed ones.
 */

export interface Meta {
  readonly scenario: string;
  readonly transport: "ws" | "stdio" | "http" | "cli";
  /** Arguments of the server program; absent where every line brings its own. */
  readonly args?: readonly string[];
  /** Variables added to the server's environment. */
  readonly serverEnv?: Readonly<Record<string, string>>;
  readonly note?: string;
}

/** A message too large to store: `prefix`, then either `fill` up to `totalBytes` or `repeat` nested `times`, `suffix`. */
export interface Generated {
  readonly prefix: string;
  readonly suffix: string;
  readonly fill?: string;
  readonly totalBytes?: number;
  readonly fragmentBytes?: number;
  readonly repeat?: readonly [string, string];
  readonly times?: number;
}

/** What the client does. */
export interface SendLine {
  readonly dir: "send";
  readonly conn?: string;
  readonly msg?: unknown;
  readonly raw?: string;
  readonly hex?: string;
  readonly generated?: Generated;
  readonly frame?: string;
  readonly code?: number;
  readonly payload?: string;
  /** False: the line is the last one and has no newline; the input ends after it. */
  readonly newline?: boolean;
  readonly http?: readonly string[];
  readonly cli?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface HttpAnswer {
  readonly status: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** What the server is expected to do. */
export interface RecvLine {
  readonly dir: "recv";
  readonly conn?: string;
  readonly msg?: unknown;
  readonly frame?: string;
  readonly count?: number;
  readonly atMs?: readonly number[];
  readonly payload?: string;
  readonly payloadBytes?: number;
  readonly summary?: Readonly<Record<string, unknown>>;
  readonly http?: HttpAnswer;
  readonly running?: boolean;
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Something outside the messages. */
export interface EventLine {
  readonly dir: "event";
  readonly conn?: string;
  readonly event: string;
  readonly how?: string;
  readonly ms?: number;
  readonly signal?: string | null;
  readonly code?: number | null;
}

export type Line = SendLine | RecvLine | EventLine;

export interface Transcript {
  readonly meta: Meta;
  readonly lines: readonly Line[];
}

const DIRECTORIES = ["transcripts", "codex_client"];
/** The recording that holds the whole `environmentInfo`; the others abbreviate it. */
const INFO_SCENARIO = "lifecycle-initialize";

/** All recordings, by name. @throws If a file is not a recording. */
export function readTranscripts(): Transcript[] {
  const transcripts = DIRECTORIES.flatMap(fileNames).map(readTranscript);
  const info = environmentInfo(transcripts);
  return transcripts.map(({ meta, lines }) => ({ meta, lines: expand(lines, info) as Line[] }));
}

function fileNames(directory: string): string[] {
  const names = [...Deno.readDirSync(new URL(directory, import.meta.url))].map((entry) => `${directory}/${entry.name}`);
  return names.filter((name) => name.endsWith(".jsonl")).sort();
}

function readTranscript(name: string): Transcript {
  const [meta, ...lines] = Deno.readTextFileSync(new URL(name, import.meta.url)).trimEnd().split("\n")
    .map((line) => JSON.parse(line) as { dir: string });
  if (meta?.dir !== "meta") throw new Error(`${name}: the first line is not of "dir":"meta"`);
  const strange = lines.find((line) => !["send", "recv", "event"].includes(line.dir));
  if (strange !== undefined) throw new Error(`${name}: "dir":${JSON.stringify(strange.dir)} is not known`);
  return { meta: meta as unknown as Meta, lines: lines as unknown as Line[] };
}

function environmentInfo(transcripts: readonly Transcript[]): unknown {
  const lines = transcripts.find(({ meta }) => meta.scenario === INFO_SCENARIO)?.lines ?? [];
  const reply = lines.find((line) => line.dir === "recv")?.msg as { result: { environmentInfo: unknown } } | undefined;
  if (reply === undefined) throw new Error(`${INFO_SCENARIO}: no reply to initialize`);
  return reply.result.environmentInfo;
}

/** Puts the whole object where a recording says `<environmentInfo>`. */
function expand(value: unknown, info: unknown): unknown {
  if (value === "<environmentInfo>") return info;
  if (Array.isArray(value)) return value.map((item) => expand(item, info));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, expand(member, info)]));
}
