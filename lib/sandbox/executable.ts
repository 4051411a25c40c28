/** What execve() looks for in a file before it runs it. */

export type Executable =
  /** A script, or a program that is linked when it starts: another file is needed to run it. */
  | { readonly kind: "needs"; readonly interpreter: string }
  /** Nothing else is needed, or it cannot be told. */
  | { readonly kind: "complete" }
  /** The kernel itself runs no such file. */
  | { readonly kind: "unknown" };

/** So much of a file is enough: the kernel itself looks at 256 bytes, and programs have their headers at the beginning. */
export const HEADER_BYTES = 1024;

const CLASS_OFFSET = 4;
const CLASS_64 = 2;
/** `Elf64_Ehdr`: where the program headers are, the size of one, their number. */
const HEADERS_OFFSET = 32;
const HEADER_SIZE_OFFSET = 54;
const HEADER_COUNT_OFFSET = 56;
/** `Elf64_Phdr`. */
const SEGMENT_OFFSET = 8;
const SEGMENT_SIZE = 32;
const PT_INTERP = 3;

/** @param start The first {@linkcode HEADER_BYTES} of the file, or all of it; one code unit a byte. */
export function executable(start: string): Executable {
  if (start.startsWith("#!")) return script(start);
  return start.startsWith("\x7fELF") ? program(start) : { kind: "unknown" };
}

function script(start: string): Executable {
  const interpreter = /^#![ \t]*([^ \t\n\0]+)/.exec(start)?.[1];
  return interpreter === undefined ? { kind: "unknown" } : { kind: "needs", interpreter };
}

function program(start: string): Executable {
  if (start.charCodeAt(CLASS_OFFSET) !== CLASS_64) return { kind: "complete" };
  const table = integer(start, HEADERS_OFFSET, 8);
  const size = integer(start, HEADER_SIZE_OFFSET, 2);
  const count = integer(start, HEADER_COUNT_OFFSET, 2);
  for (let at = table; at < table + size * count && at + SEGMENT_SIZE + 8 <= start.length; at += size) {
    if (integer(start, at, 4) !== PT_INTERP) continue;
    const offset = integer(start, at + SEGMENT_OFFSET, 8);
    const text = start.slice(offset, offset + integer(start, at + SEGMENT_SIZE, 8));
    const end = text.indexOf("\0");
    return end > 0 ? { kind: "needs", interpreter: text.slice(0, end) } : { kind: "complete" };
  }
  return { kind: "complete" };
}

/** Little-endian; NaN beyond the end, which no comparison is true for. */
function integer(text: string, at: number, bytes: number): number {
  let result = 0;
  for (let byte = bytes - 1; byte >= 0; byte--) result = result * 256 + text.charCodeAt(at + byte);
  return result;
}
