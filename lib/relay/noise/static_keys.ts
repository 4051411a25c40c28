/** The key pairs by which one end of the relay is known for as long as it lives. */
export { KeyPairs as StaticKeys } from "./key_pairs.ts";
