import { Base64Error, decodeBase64, encodeBase64 } from "../../base64.ts";
import { MLKEM_PUBLIC_BYTES, type PublicKeys, X25519_BYTES } from "./keys.ts";

/** How the registry's JSON names the handshake; the transcript's name for it says `25519` instead of `X25519`. */
const SUITE = "Noise_hybridIK_X25519+MLKEM768_AESGCM_SHA256";

/** Public keys as the registry's JSON has them; base64 with padding. */
export interface PublicKeysJson {
  readonly suite: string;
  readonly x25519_public_key: string;
  readonly mlkem768_public_key: string;
}

export function encodePublicKeys({ x25519, mlkem768 }: PublicKeys): PublicKeysJson {
  return { suite: SUITE, x25519_public_key: encodeBase64(x25519), mlkem768_public_key: encodeBase64(mlkem768) };
}

/**
 * Takes exactly the three members, in their one form. Whether the bytes are usable as keys shows the handshake.
 *
 * @throws {PublicKeyError} In the words of the reference where it has some; nothing of what was received is repeated.
 */
export function decodePublicKeys(json: unknown): PublicKeys {
  const { suite, x25519_public_key, mlkem768_public_key } = members(json);
  if (suite !== SUITE) throw new PublicKeyError("unsupported Noise channel suite");
  return {
    x25519: decodeKey(x25519_public_key, "X25519", X25519_BYTES),
    mlkem768: decodeKey(mlkem768_public_key, "ML-KEM-768", MLKEM_PUBLIC_BYTES),
  };
}

/** What a registry gave for a public key is none. */
export class PublicKeyError extends Error {
  override readonly name = "PublicKeyError";

  constructor(why: string) {
    super(`invalid Noise channel public key: ${why}`);
  }
}

const MEMBERS = ["suite", "x25519_public_key", "mlkem768_public_key"] as const;

function members(json: unknown): Record<typeof MEMBERS[number], unknown> {
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw new PublicKeyError("not an object");
  for (const name of MEMBERS) {
    if (!Object.hasOwn(json, name)) throw new PublicKeyError(`missing field \`${name}\``);
  }
  if (Object.keys(json).length !== MEMBERS.length) throw new PublicKeyError("unknown field");
  return json as Record<typeof MEMBERS[number], unknown>;
}

function decodeKey(text: unknown, name: string, length: number): Uint8Array<ArrayBuffer> {
  if (typeof text !== "string") throw new PublicKeyError(`invalid ${name} public key`);
  const bytes = decodeText(text, name);
  if (bytes.length !== length) throw new PublicKeyError(`invalid ${name} public key length`);
  return bytes;
}

function decodeText(text: string, name: string): Uint8Array<ArrayBuffer> {
  try {
    return decodeBase64(text);
  } catch (error) {
    if (error instanceof Base64Error) throw new PublicKeyError(`invalid ${name} public key`);
    throw error;
  }
}
