import { osErrorText } from "../../linux/errno.ts";

/** Why a launch ended before the program was started. */
export class LaunchFailure extends Error {
  override name = "LaunchFailure";
}

/** What the hidden parts say to whoever does not start them as the server does. */
export const NOT_BY_HAND = "this is a part of the server that it starts itself; it is not for use by hand";

/**
 * What a call returned.
 *
 * @param call Names it for people, with what it was about: `mount_setattr /work`.
 * @param result A negated error number if it failed.
 * @throws {LaunchFailure} If it did.
 */
export function must(call: string, result: number): number {
  if (result < 0) throw new LaunchFailure(`${call}: ${osErrorText(-result)}`);
  return result;
}
