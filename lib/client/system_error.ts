/** The operating system's reasons as the reference prints them, for what Node.js, Bun and Deno throw. */

const TEXTS: Readonly<Record<string, string>> = {
  E2BIG: "Argument list too long",
  EACCES: "Permission denied",
  EAGAIN: "Resource temporarily unavailable",
  ECONNREFUSED: "Connection refused",
  ECONNRESET: "Connection reset by peer",
  EHOSTUNREACH: "No route to host",
  EIO: "Input/output error",
  EISDIR: "Is a directory",
  ELOOP: "Too many levels of symbolic links",
  EMFILE: "Too many open files",
  ENAMETOOLONG: "File name too long",
  ENETUNREACH: "Network is unreachable",
  ENFILE: "Too many open files in system",
  ENOENT: "No such file or directory",
  ENOEXEC: "Exec format error",
  ENOMEM: "Cannot allocate memory",
  ENOTDIR: "Not a directory",
  EPERM: "Operation not permitted",
  EPIPE: "Broken pipe",
  ETIMEDOUT: "Connection timed out",
  ETXTBSY: "Text file busy",
};

/** E.g. `No such file or directory (os error 2)`; the platform's own words where the reason is not in the table. */
export function systemErrorText(error: unknown): string {
  const { message, code, errno } = error as { message?: unknown; code?: unknown; errno?: unknown };
  const text = typeof code === "string" ? TEXTS[code] : undefined;
  if (text === undefined) return String(message ?? error);
  return typeof errno === "number" ? `${text} (os error ${Math.abs(errno)})` : text;
}
