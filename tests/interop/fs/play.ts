/** Runs the duel about files in a confinement, or says why not. */
import { endWithUs } from "../../support/end_with_us.ts";
import { Confinement, NoConfinement } from "./confinement.ts";
import type { InsideOptions } from "./inside.ts";

export type PlayOptions = Omit<InsideOptions, "directory" | "reference"> & {
  /** The binary of the reference, outside. */
  readonly reference: readonly string[];
};

/** @returns Whether both did the same in every conversation, or null if it must not be tried here. */
export async function playFiles(options: PlayOptions): Promise<boolean | null> {
  let confinement: Confinement;
  try {
    confinement = await Confinement.create();
  } catch (error) {
    if (!(error instanceof NoConfinement)) throw error;
    console.log(`skip fs: never without a confinement, and it cannot be had here: ${error.message}`);
    return null;
  }
  await using own = confinement;
  const deno = own.show("deno", await Deno.realPath(Deno.execPath()));
  const project = own.show("project", decodeURIComponent(new URL("../../../", import.meta.url).pathname));
  const npm = own.show("npm", `${moduleCache()}/npm`);
  const [binary, ...args] = options.reference as [string, ...string[]];
  own.show("reference", binary.slice(0, binary.lastIndexOf("/bin/"))); // it looks for helpers beside it
  const inside: InsideOptions = {
    ...options,
    directory: own.directory,
    reference: [own.inside(binary), ...args],
    words: options.words?.map((word) => own.inside(word)) ?? null,
  };
  const cache = `${own.work}/cache`;
  const run = [deno, "run", "-A", "--cached-only", "--config", `${project}/deno.json`];
  const words = own.words([
    ...["/bin/sh", "-c", `mkdir ${cache} && ln -s ${npm} ${cache}/npm && exec "$@"`, "sh"],
    ...[...run, `${project}/tests/interop/fs/inside.ts`, JSON.stringify(inside)],
  ], { DENO_DIR: cache });
  const [program, ...rest] = words as [string, ...string[]];
  const child = new Deno.Command(program, { args: rest, stdin: "null", stdout: "inherit", stderr: "inherit" });
  return (await endWithUs(child.spawn()).status).success;
}

/** Where Deno keeps packages. */
function moduleCache(): string {
  const home = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME") ?? "/root"}/.cache`;
  return Deno.env.get("DENO_DIR") ?? `${home}/deno`;
}
