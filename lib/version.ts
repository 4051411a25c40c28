import config from "../deno.json" with { type: "json" };

/** Our own version, that of the package. */
export const VERSION = config.version;

/**
 * The release of the reference whose wire we speak, reported as `executorVersion`: clients decide by it what they
 * may ask for.
 */
export const WIRE_VERSION = "0.171.0";
