/** Runs the duel in sandboxes in a confinement, or says why not. */
import { playConfined, type PlayOptions } from "../fs/play.ts";

/** See {@linkcode playConfined}. */
export function playSandboxes(options: PlayOptions): Promise<boolean | null> {
  return playConfined({ name: "sandbox", program: "tests/interop/sandbox/inside.ts", nests: true }, options);
}
