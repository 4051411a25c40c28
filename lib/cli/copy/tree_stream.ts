import type { Copying } from "./copying.ts";
import { TarFilter, type TarFilterOptions } from "./tar_filter.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** An archive on its way, looked through, counted, and stopped by an interruption. */
export async function* lookedThrough(
  copying: Copying,
  archive: AsyncIterable<Bytes>,
  options: TarFilterOptions,
): AsyncGenerator<Bytes, void, void> {
  const { report, progress, signal } = copying;
  const filter = new TarFilter({
    entry(_name, isDirectory) {
      if (isDirectory) report.directories++;
      else report.files++;
      progress.entry();
    },
    leftOut: (name) => report.add("special", plain(name), "only files, directories and links are copied"),
  }, options);
  for await (const piece of archive) {
    signal.throwIfAborted();
    for (const part of filter.push(piece)) {
      report.bytes += part.length;
      progress.add(part.length);
      yield part;
    }
  }
  signal.throwIfAborted();
  filter.end();
}

function plain(name: string): string {
  return name.replace(/^\.\//, "");
}
