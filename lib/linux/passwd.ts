import * as libc from "./libc.ts";
import { EINTR } from "./errno.ts";

/** What the password database says of a user; text that is not UTF-8 is repaired, for want of a use. */
export interface PasswordEntry {
  readonly home: string;
  readonly shell: string;
}

/** `struct passwd` on 64-bit machines: name, password, two ids, gecos, home, shell. */
const PASSWD_SIZE = 48;
const HOME_OFFSET = 32;
const SHELL_OFFSET = 40;
/** Room for the strings of one entry. */
const STRINGS_SIZE = 64 * 1024;

/** Asks the C library, and with it whatever the machine uses besides /etc/passwd; null if nobody knows the user. */
export function passwordEntry(uid: number): PasswordEntry | null {
  const entry = new BigUint64Array(PASSWD_SIZE / 8);
  const strings = new Uint8Array(new ArrayBuffer(STRINGS_SIZE));
  const found = new BigUint64Array(1);
  let error: number;
  do {
    error = libc.symbols.getpwuid_r(uid, libc.bytesOf(entry), strings, BigInt(STRINGS_SIZE), libc.bytesOf(found));
  } while (error === EINTR);
  // Implementations differ in whether "no such user" is an error number (ENOENT, ESRCH, EBADF …) or none.
  if (error !== 0 || found[0] === 0n) return null;
  const text = (offset: number): string => {
    const pointer = Deno.UnsafePointer.create(entry[offset / 8]!);
    return pointer === null ? "" : textAt(pointer);
  };
  return { home: text(HOME_OFFSET), shell: text(SHELL_OFFSET) };
}

/** `getCString` of the runtime throws on text that is not UTF-8. */
function textAt(pointer: Deno.PointerObject): string {
  const view = new Deno.UnsafePointerView(pointer);
  let length = 0;
  while (view.getUint8(length) !== 0) length++;
  const bytes = new Uint8Array(length);
  view.copyInto(bytes);
  return new TextDecoder().decode(bytes);
}

/** The real user id that we run under. */
export function realUserId(): number {
  return libc.symbols.getuid();
}
