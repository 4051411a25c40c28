const ID_BYTES = 16;

/** 32 hexadecimal digits that nobody else has. Works in pages without a secure context too, unlike `randomUUID`. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
