import type { Log } from "../log.ts";
import type { ByteSource } from "../rpc/stdio.ts";

/** What is kept of one line, in UTF-16 units; the rest of it is left out. */
const MAX_LINE_LENGTH = 4096;
const READ_BYTES = 16 * 1024;

/** Logs what a server of ours says on its stderr, line by line, until it ends. Never rejects. */
export async function logStderr(stderr: ByteSource, log: Log): Promise<void> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(READ_BYTES);
  let line = "";
  const add = (text: string) => line = (line + text).slice(0, MAX_LINE_LENGTH);
  const end = () => {
    if (line.trim() !== "") log.debug("exec-server stdio stderr", { line });
    line = "";
  };
  try {
    for (let count: number | null; (count = await stderr.read(buffer)) !== null;) {
      const [rest = "", ...lines] = decoder.decode(buffer.subarray(0, count), { stream: true }).split("\n");
      add(rest);
      for (const next of lines) {
        end();
        add(next);
      }
    }
  } catch (error) {
    log.warn("failed to read exec-server stdio stderr", {
      reason: error instanceof Error ? error.message : String(error),
    });
  }
  end();
}
