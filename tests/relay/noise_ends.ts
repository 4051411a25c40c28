/** The two ends of a handshake, for its tests. */
import assert from "node:assert/strict";
import { loadPrimitives } from "../../lib/relay/noise/load_primitives.ts";
import { type HandshakeContext, HandshakeError, Initiator, Responder } from "../../lib/relay/noise/noise.ts";
import { StaticKeys } from "../../lib/relay/noise/static_keys.ts";

export const platform = await loadPrimitives();
export const harness = await StaticKeys.generate(platform);
export const executor = await StaticKeys.generate(platform);
export const context: HandshakeContext = { environmentId: "env", registrationId: "reg", streamId: "stream" };
export const NOTHING = new Uint8Array(0);

export function begin(options: Partial<Parameters<typeof Initiator.begin>[0]> = {}): Promise<Initiator> {
  const usual = { primitives: platform, own: harness, executor: executor.public, context, authorization: "authorised" };
  return Initiator.begin({ ...usual, ...options });
}

export function read(
  message1: Uint8Array,
  options: Partial<Parameters<typeof Responder.read>[0]> = {},
): Promise<Responder> {
  return Responder.read({ primitives: platform, own: executor, context, message1, ...options });
}

/** The one error, which says nothing of where the handshake failed. */
export async function assertFails(handshake: Promise<unknown>): Promise<void> {
  await assert.rejects(handshake, (error) => {
    assert(error instanceof HandshakeError);
    assert.equal(error.message, "Noise handshake failed");
    assert.equal(error.cause, undefined);
    return true;
  });
}
