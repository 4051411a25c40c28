import { isUri } from "../client/environment_path.ts";
import { FileError } from "../client/file_error.ts";
import type { FileInfo } from "../client/files.ts";
import type { Client } from "./client.ts";
import type { Cli, Command } from "./command.ts";
import type { CommandArguments } from "./command_arguments.ts";
import { localTime } from "./local_time.ts";
import { environmentPath } from "./copy/place.ts";
import { childUri } from "./copy/remote_path.ts";
import { openClient } from "./open_client.ts";
import { painter, printable, printJson, say } from "./say.ts";

/** Questions under way at once. */
const MAX_QUESTIONS = 64;

interface Entry {
  readonly path: string;
  readonly name: string;
  readonly type: "file" | "directory" | "other";
  /** Only where it was asked for. */
  readonly info?: FileInfo;
}

export async function runLs(ls: Command, args: CommandArguments, cli: Cli): Promise<number> {
  const paths = args.operands.length === 0 ? ["."] : args.operands.map(environmentPath);
  await using client = await openClient(args, ls, cli);
  let code = 0;
  let isFirst = true;
  for (const path of paths) {
    try {
      const entries = await entriesOf(client, path, args);
      if (paths.length > 1 && !args.has("--json")) {
        await cli.stdout.write(`${isFirst ? "" : "\n"}${printable(cli.stdout, path)}:\n`);
      }
      await show(entries, args, cli);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await say(cli, printable(cli.stderr, `${path}: ${error.message}`));
      code = 1;
    }
    isFirst = false;
  }
  return code;
}

async function entriesOf({ files }: Client, path: string, args: CommandArguments): Promise<Entry[]> {
  const detailed = args.has("--long") || args.has("--json");
  const info = await files.stat(path);
  if (!info.isDirectory) return [{ path, name: path, type: info.isFile ? "file" : "other", info }];
  const entries: Entry[] = (await files.readDir(path))
    .filter(({ name }) => args.has("--all") || !name.startsWith("."))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, isDirectory, isFile }) => ({
      path: isUri(path) ? childUri(path, name) : `${path.replace(/\/$/, "")}/${name}`,
      name,
      type: isDirectory ? "directory" : isFile ? "file" : "other",
    }));
  if (!detailed) return entries;
  const detailedEntries: Entry[] = [];
  for (let at = 0; at < entries.length; at += MAX_QUESTIONS) {
    const some = entries.slice(at, at + MAX_QUESTIONS);
    detailedEntries.push(...await Promise.all(some.map(async (entry) => withInfo(entry, await statOf(files, entry)))));
  }
  return detailedEntries;
}

function withInfo(entry: Entry, info: FileInfo | undefined): Entry {
  return info === undefined ? entry : { ...entry, info };
}

/** @returns Undefined for what has gone meanwhile, or whose name the server cannot say. */
async function statOf(files: Client["files"], { path }: Entry): Promise<FileInfo | undefined> {
  try {
    return await files.stat(path);
  } catch (error) {
    if (error instanceof FileError && error.kind !== "BrokenPipe") return undefined;
    throw error;
  }
}

async function show(entries: readonly Entry[], args: CommandArguments, cli: Cli): Promise<void> {
  if (args.has("--json")) {
    for (const { path, name, type, info } of entries) {
      const { size = null, mtime = null, isSymlink = null } = info ?? {};
      await printJson(cli, { path, name, type, isLink: isSymlink, size, modified: mtime?.toISOString() ?? null });
    }
    return;
  }
  const paint = painter(cli, cli.stdout);
  const width = Math.max(0, ...entries.map(({ info }) => String(info?.size ?? "").length));
  const lines = entries.map((entry) => {
    const shown = printable(cli.stdout, entry.name);
    const name = entry.type === "directory" ? paint("blue", shown) : shown;
    return `${args.has("--long") ? `${details(entry, width)}  ` : ""}${name}\n`;
  });
  if (lines.length > 0) await cli.stdout.write(lines.join(""));
}

function details({ type, info }: Entry, width: number): string {
  const kind = info?.isSymlink ? "l" : { file: "-", directory: "d", other: "?" }[type];
  const size = info === undefined || !info.isFile ? "-" : String(info.size);
  return `${kind} ${size.padStart(width)}  ${localTime(info?.mtime ?? undefined)}`;
}
