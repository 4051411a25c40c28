import type { Place } from "./place.ts";

/** What a command line asks to be copied where. */
export type CopyPlan =
  | { readonly direction: "up"; readonly sources: readonly (StreamPlace | LocalPlace)[]; readonly target: string }
  | { readonly direction: "down"; readonly sources: readonly string[]; readonly target: StreamPlace | LocalPlace };

export type StreamPlace = Place & { readonly side: "stream" };
export type LocalPlace = Place & { readonly side: "local" | "environment" };

/**
 * Sees which way the operands go.
 *
 * @returns A sentence, if they make no sense.
 */
export function planCopy(places: readonly Place[]): CopyPlan | string {
  const [target, sources] = [places.at(-1)!, places.slice(0, -1)];
  if (target.side === "environment") {
    const local = sources.filter((place) => place.side !== "environment");
    if (local.length < sources.length) {
      return "both sides are in the environment; 'exec-server exec -- cp -r SOURCE TARGET' copies there";
    }
    if (sources.length > 1 && sources.some(({ side }) => side === "stream")) {
      return "standard input can only be the one source";
    }
    return { direction: "up", sources: local, target: target.path };
  }
  const paths = sources.flatMap((place) => place.side === "environment" ? [place.path] : []);
  if (paths.length < sources.length) return "one side has to be in the environment: write it as env:PATH";
  if (target.side === "stream" && sources.length > 1) return "standard output can only have one source";
  return { direction: "down", sources: paths, target };
}
