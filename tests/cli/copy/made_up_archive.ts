/** An entry as no tar would write it, if need be. */
export interface MadeUpEntry {
  readonly name: string;
  /** The type in its header; default: a file. */
  readonly type?: string;
  readonly linkName?: string;
  readonly content?: string;
  /** What its header says of the length of the content. */
  readonly size?: number;
  /** What is at the magic's place. */
  readonly magic?: string;
  readonly prefix?: string;
}

const BLOCK = 512;

/** An archive byte by byte; texts are UTF-8. */
export function archiveOf(entries: readonly MadeUpEntry[]): Uint8Array<ArrayBuffer> {
  const blocks = entries.flatMap((entry) => {
    const content = new TextEncoder().encode(entry.content ?? "");
    const padded = new Uint8Array(Math.ceil(content.length / BLOCK) * BLOCK);
    padded.set(content);
    return [header(entry, entry.size ?? content.length), padded];
  });
  const parts = [...blocks, new Uint8Array(2 * BLOCK)];
  const archive = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    archive.set(part, at);
    at += part.length;
  }
  return archive;
}

/** One record of an extended header. */
export function paxRecord(key: string, value: string): string {
  const rest = new TextEncoder().encode(` ${key}=${value}\n`).length;
  const digits = String(rest + String(rest).length).length;
  return `${rest + digits} ${key}=${value}\n`;
}

function header(entry: MadeUpEntry, size: number): Uint8Array {
  const { name, type = "0", linkName = "", magic = "ustar\x0000", prefix = "" } = entry;
  const block = new Uint8Array(BLOCK);
  const put = (text: string, at: number) => block.set(new TextEncoder().encode(text), at);
  put(name, 0);
  put(`${type === "5" ? "0000755" : "0000644"}\0`, 100);
  put("0000000\x000000000\0", 108);
  put(`${size.toString(8).padStart(11, "0")}\0`, 124);
  put("00000000000\0", 136);
  put(" ".repeat(8), 148);
  put(type, 156);
  put(linkName, 157);
  put(magic, 257);
  put(prefix, 345);
  put(`${block.reduce((sum, byte) => sum + byte).toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
