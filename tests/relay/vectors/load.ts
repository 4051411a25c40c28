/** The recorded data that stands beside this file. */
export function loadVectors<T>(name: `${string}.json`): T {
  return JSON.parse(Deno.readTextFileSync(new URL(name, import.meta.url)));
}

export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromHex(text);
}

export function toHex(bytes: Uint8Array): string {
  return bytes.toHex();
}
