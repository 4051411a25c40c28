import { plainBytes } from "./plain_bytes.ts";
import type { Hash } from "./primitives.ts";

/** SHA-256 of `node:crypto`, which every runtime with that module has. */
export function platformHash(crypto: typeof import("node:crypto")): Hash {
  return {
    sha256(...parts) {
      const hash = crypto.createHash("sha256");
      for (const part of parts) hash.update(part);
      return plainBytes(hash.digest());
    },
    hmac(key, ...parts) {
      const hmac = crypto.createHmac("sha256", key);
      for (const part of parts) hmac.update(part);
      return plainBytes(hmac.digest());
    },
  };
}
