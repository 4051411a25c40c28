/** Runs a duel in a confinement, or says why not. */
import { endWithUs } from "../../support/end_with_us.ts";
import { Confinement, NoConfinement } from "./confinement.ts";
import { ALIKE, DIFFERENT, type InsideOptions } from "./inside.ts";

export type PlayOptions = Omit<InsideOptions, "directory"> & {
  /** The binary of the reference, outside, and its arguments; null to compare ours with itself. */
  readonly reference: readonly [string, ...string[]] | null;
  /** Say nothing. */
  readonly quiet?: boolean;
};

/** The duel about files; see {@linkcode playConfined}. */
export function playFiles(options: PlayOptions): Promise<boolean | null> {
  return playConfined({ name: "fs", program: "tests/interop/fs/inside.ts", nests: false }, options);
}

/** What is played in the confinement. */
export interface Game {
  readonly name: string;
  /** The program inside, from the project; it is told {@linkcode InsideOptions}. */
  readonly program: string;
  /** Whether the servers confine others in turn. */
  readonly nests: boolean;
}

/**
 * @returns Whether both did the same in every conversation, or null if it must not be tried here.
 * @throws {Error} If it could not be found out.
 */
export async function playConfined({ name, program, nests }: Game, options: PlayOptions): Promise<boolean | null> {
  let confinement: Confinement;
  try {
    confinement = await Confinement.create({ nests });
  } catch (error) {
    if (!(error instanceof NoConfinement)) throw error;
    console.log(`skip ${name}: never without a confinement, and it cannot be had here: ${error.message}`);
    return null;
  }
  await using own = confinement;
  const deno = own.show("deno", await Deno.realPath(Deno.execPath()));
  const project = own.show("project", decodeURIComponent(new URL("../../../", import.meta.url).pathname));
  const npm = own.show("npm", `${moduleCache()}/npm`);
  // It looks for helpers beside its directory `bin`.
  if (options.reference !== null) own.show("reference", options.reference[0].replace(/\/bin\/[^/]*$/, ""));
  const seenInside = (words: readonly string[] | null) => words?.map((word) => own.inside(word)) ?? null;
  const inside: InsideOptions = {
    ...options,
    directory: own.directory,
    reference: seenInside(options.reference),
    words: seenInside(options.words),
  };
  const cache = `${own.work}/cache`;
  const run = [deno, "run", "-A", "--cached-only", "--config", `${project}/deno.json`];
  const words = own.words([
    ...["/bin/sh", "-c", `mkdir ${cache} && ln -s ${npm} ${cache}/npm && exec "$@"`, "sh"],
    ...[...run, `${project}/${program}`, JSON.stringify(inside)],
  ], { DENO_DIR: cache });
  const [bubblewrap, ...rest] = words as [string, ...string[]];
  const output = options.quiet === true ? "null" : "inherit";
  const child = new Deno.Command(bubblewrap, { args: rest, stdin: "null", stdout: output, stderr: output });
  const { code } = await endWithUs(child.spawn()).status;
  if (code !== ALIKE && code !== DIFFERENT) throw new Error(`the confined part ended with exit code ${code}`);
  return code === ALIKE;
}

/** Where Deno keeps packages. */
function moduleCache(): string {
  const home = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME") ?? "/root"}/.cache`;
  return Deno.env.get("DENO_DIR") ?? `${home}/deno`;
}
