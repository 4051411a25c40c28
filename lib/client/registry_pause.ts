import { REGISTRY_PAUSE_FIRST_MS, REGISTRY_PAUSE_LONGEST_MS } from "./limits.ts";

/**
 * The pause after a failed attempt that asked a registry, in milliseconds: from 500, doubled up to 5000, and up to half of
 * it more. Which part of the half is different for each key, so that those who lost the same executor do not come back
 * all at once, and the same each time.
 *
 * @param key The session's id, or anything of its own for an attempt without one.
 * @param attempt From 0.
 */
export function registryPauseMs(key: string, attempt: number): number {
  const base = Math.min(REGISTRY_PAUSE_FIRST_MS * 2 ** attempt, REGISTRY_PAUSE_LONGEST_MS);
  return base + fnv1a(`${key} ${attempt}`) % (base / 2 + 1);
}

/** A hash of 32 bits that spreads short texts well; nothing secret depends on it. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
