/** Our own version; `tests/version_test.ts` holds it equal to the one in `deno.json`. */
export const VERSION = "0.1.0";

/**
 * The release of the reference whose wire we speak, reported as `executorVersion`: clients decide by it what they
 * may ask for.
 */
export const WIRE_VERSION = "0.171.0";
