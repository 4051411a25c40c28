/** How a compiled program tells itself to be one of its hidden parts, and knows whether it still is what told it. */

import { VERSION } from "../version.ts";

/** @param word Names the part. */
export function hiddenWord(word: string): string {
  return `${word}=${VERSION}`;
}

/**
 * The part that a first argument names; an unknown one is no matter of ours.
 *
 * @returns Also what is wrong with it: when the program's file is replaced while a server runs, what it starts is
 * another program from then on, which may understand something else by what it is told.
 */
export function readHiddenWord(argument = ""): { readonly word: string; readonly fault: string | undefined } {
  const [word = "", version] = argument.split("=", 2);
  const fault = version === undefined || version === VERSION
    ? undefined
    : `the server is version ${version}, and the file that it was started from is now ${VERSION}: start the server again`;
  return { word, fault };
}
