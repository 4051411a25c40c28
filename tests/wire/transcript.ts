import { toTranscript } from "./filesystem_recording.ts";
import type { Line, Meta, Transcript } from "./lines.ts";

/**
 * Where recordings are. `codex_client` is what codex-cli 0.171.0 said to its own server; generated ids are replaced by
 * fixed ones, and what its answers show of the workspace is made by `setup` lines. Its sessions with a
 * network proxy or a shell snapshot are not among them, and what a client did not wait for is left out.
 */
const DIRECTORIES = ["transcripts", "codex_client", "filesystem"];
/** Kinds of lines. */
const DIRS = ["send", "recv", "event", "setup", "check", "peer"];
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
  const lines = Deno.readTextFileSync(new URL(name, import.meta.url)).trimEnd().split("\n")
    .map((line) => JSON.parse(line) as { dir: string });
  if (name.startsWith("filesystem/")) return toTranscript(name.slice("filesystem/".length, -".jsonl".length), lines);
  const [meta, ...rest] = lines;
  if (meta?.dir !== "meta") throw new Error(`${name}: the first line is not of "dir":"meta"`);
  const strange = rest.find((line) => !DIRS.includes(line.dir));
  if (strange !== undefined) throw new Error(`${name}: "dir":${JSON.stringify(strange.dir)} is not known`);
  return { meta: meta as unknown as Meta, lines: rest as unknown as Line[] };
}

function environmentInfo(transcripts: readonly Transcript[]): unknown {
  const lines = transcripts.find(({ meta }) => meta.scenario === INFO_SCENARIO)?.lines ?? [];
  const reply = lines.find((line) => line.dir === "recv")?.msg as { result: { environmentInfo: unknown } } | undefined;
  if (reply === undefined) throw new Error(`${INFO_SCENARIO}: no reply to initialize`);
  return reply.result.environmentInfo;
}

/** Bytes that are not told: the file was made of nothing but zeros. */
const OMITTED_BYTES = /^<BASE64 of (\d+) bytes>$/;

/** Puts what was left out where a recording says `<environmentInfo>` or how many bytes there were. */
function expand(value: unknown, info: unknown): unknown {
  if (value === "<environmentInfo>") return info;
  const omitted = typeof value === "string" ? OMITTED_BYTES.exec(value) : null;
  if (omitted !== null) return new Uint8Array(Number(omitted[1])).toBase64();
  if (Array.isArray(value)) return value.map((item) => expand(item, info));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, expand(member, info)]));
}
