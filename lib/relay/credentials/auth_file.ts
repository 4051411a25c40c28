import { type Json, type JsonObject, JsonSyntaxError, parseJson } from "../../json.ts";
import { decodeText } from "./bearer.ts";
import { MAX_AUTH_FILE_BYTES } from "./limits.ts";
import { readSmallFile, systemWords, UnusableFile } from "./small_file.ts";

/** `auth.json` as text, with all that it holds. */
export interface AuthStore {
  /** For messages. */
  readonly path: string;
  /**
   * undefined: there is none.
   *
   * @throws {UnusableFile} There is one, and it cannot be used.
   */
  read(): Promise<JsonObject | undefined>;
  /**
   * Replaces it at once and whole: whoever reads it meanwhile sees the old one or the new one. Where no file can be put in
   * its place, it is written over: the tokens in it have been spent, and the new ones would be lost.
   *
   * @throws {UnusableFile} It could be done in neither way, or the disk is full.
   */
  replace(members: JsonObject): Promise<void>;
}

/** The file at this path. */
export function authFile(path: string): AuthStore {
  return {
    path,
    async read() {
      try {
        const { bytes } = await readSmallFile(path, MAX_AUTH_FILE_BYTES);
        return parseMembers(bytes);
      } catch (error) {
        if (error instanceof UnusableFile && error.missing) return undefined;
        throw error;
      }
    },
    async replace(members) {
      const bytes = new TextEncoder().encode(printJson(members, "") + "\n");
      try {
        const target = await Deno.realPath(path);
        await replaceFile(target, bytes).catch(async (error) => {
          if (isFull(error)) throw error;
          await overwriteFile(target, bytes);
        });
      } catch (error) {
        throw new UnusableFile(systemWords(error), false, { cause: error });
      }
    },
  };
}

function parseMembers(bytes: Uint8Array): JsonObject {
  try {
    const json = parseJson(decodeText(bytes, "it is not UTF-8"));
    if (json instanceof Map) return json;
  } catch (error) {
    // What the parser says names a place, and nothing of what stands there.
    if (!(error instanceof JsonSyntaxError)) throw new UnusableFile((error as Error).message, false);
  }
  throw new UnusableFile("it does not hold a JSON object", false);
}

/** Numbers as they were written, members in their order. */
function printJson(json: Json, indent: string): string {
  const inner = `${indent}  `;
  const list = (open: string, items: string[], close: string): string =>
    items.length === 0 ? open + close : `${open}\n${inner}${items.join(`,\n${inner}`)}\n${indent}${close}`;
  if (json === null || typeof json === "string" || typeof json === "boolean") return JSON.stringify(json);
  if (Array.isArray(json)) return list("[", json.map((item) => printJson(item, inner)), "]");
  if (json instanceof Map) {
    const members = [...json as JsonObject];
    return list("{", members.map(([name, member]) => `${JSON.stringify(name)}: ${printJson(member, inner)}`), "}");
  }
  return (json as { readonly text: string }).text;
}

/**
 * Writes a new file beside the old one, readable by its owner only, and puts it in its place. The owner stays the same:
 * where we may not give the file away, as only root may, nothing is replaced.
 */
async function replaceFile(target: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${target}.${crypto.randomUUID()}.tmp`;
  const created = await Deno.open(temporary, { write: true, createNew: true, mode: 0o600 });
  try {
    {
      using file = created;
      const { uid, gid } = await Deno.stat(target);
      if (uid !== null && uid !== (await file.stat()).uid) await Deno.chown(temporary, uid, gid);
      // The process's mask may have taken bits away.
      if (Deno.build.os !== "windows") await Deno.chmod(temporary, 0o600);
      await writeWhole(file, bytes);
    }
    await Deno.rename(temporary, target);
  } catch (error) {
    await Deno.remove(temporary);
    throw error;
  }
}

/** For a file that is mounted alone, is another user's, or lies in a directory that we may not write. */
async function overwriteFile(target: string, bytes: Uint8Array): Promise<void> {
  using file = await Deno.open(target, { write: true });
  await writeWhole(file, bytes);
  await file.truncate(bytes.length);
}

/** Whoever writes over a file of a full disk may be left with half of it. */
function isFull(error: unknown): boolean {
  const { code } = Object(error) as { code?: unknown };
  return code === "ENOSPC" || code === "EDQUOT";
}

async function writeWhole(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await file.write(rest));
  await file.sync();
}
